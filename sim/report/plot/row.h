/* Rows of plots, each in its frame. */
#ifndef BIDE_SIM_REPORT_PLOT_ROW_H
#define BIDE_SIM_REPORT_PLOT_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/report/parts.h"
#include "sim/report/plot/sheet.h"

/* Writes nothing if there is nothing to show. */
void page_row(struct page *p, const struct page_row *row);

/* A row's head, and its foot. */
void page_row_open(struct page *p, const char *title, const char *about);
void page_row_close(struct page *p);

/* The caption of a plot: a variant's name, and an optional addition. */
void page_plot_open(struct page *p, uint32_t v, const char *more);
void page_plot_close(struct page *p);

/* The frame, with the faults shaded on a time axis; between open and close
 * goes SVG, after `svg_close` HTML. height_px is that of the inside. */
void page_frame_open(struct page *p, const struct page_axes *a, int height_px,
                     bool y_lines);
void page_frame_svg_close(struct page *p);
void page_frame_close(struct page *p, const struct page_axes *a, bool y_ticks);

#endif
