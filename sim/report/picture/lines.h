/* A figure over one setting, as a line for each of n variants. */
#ifndef BIDE_SIM_REPORT_PICTURE_LINES_H
#define BIDE_SIM_REPORT_PICTURE_LINES_H

#include "sim/report/picture/study.h"

extern const struct picture_size picture_lines_size;

/* Its upper left corner at x, y. */
void picture_lines(FILE *out, const struct sim_page_grid *g, uint32_t n, int x,
                   int y);

/* The names of the variants, up to `end`. */
void picture_lines_legend(FILE *out, const struct sim_page_grid *g, uint32_t n,
                          int x, int y, int end);

#endif
