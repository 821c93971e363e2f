/* Maps of coloured cells, their upper left corners at x, y. */
#ifndef BIDE_SIM_REPORT_PICTURE_CELLS_H
#define BIDE_SIM_REPORT_PICTURE_CELLS_H

#include "sim/report/picture/study.h"

struct picture_size picture_cells_size(const struct sim_page_axis *x,
                                       const struct sim_page_axis *y);

/* A stability map; and a legend of its colours, no wider than up to `end`. */
void picture_map(FILE *out, const struct sim_page_map *m, int x, int y);
void picture_map_legend(FILE *out, int x, int y, int end);

/* A figure over two settings. */
void picture_grid(FILE *out, const struct sim_page_context *ctx,
                  const struct sim_page_grid *g, int x, int y);

#endif
