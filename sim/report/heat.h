/* The colours of cells by meaning: a swept figure from bad to good, and what
 * becomes of a system after a fault.
 *
 *     struct page_bounds b = page_bounds_of(ctx, SIM_FIG_SUCCESS);
 *     struct page_heat h = page_heat_of(SIM_FIG_SUCCESS, 0.97, b);
 *     fprintf(out, "heat c-%s, %d %%", h.colour, h.percent);
 *
 * A figure of which neither more nor less is better has one colour, the
 * stronger the greater. Threads: immutable, all of it. */
#ifndef BIDE_SIM_REPORT_HEAT_H
#define BIDE_SIM_REPORT_HEAT_H

#include "sim/report/page.h"
#include "sim/report/text.h"

/* The least and the greatest value of a figure in all grids that show it, so
 * that variants can be compared; least > most: it has none. */
struct page_bounds {
    double least, most;
};

struct page_heat {
    const char *colour; /* c-... of the style sheet */
    int percent;        /* how strong, 0 to 100 */
};

struct page_bounds page_bounds_of(const struct sim_page_context *ctx,
                                  enum sim_figure f);
struct page_heat page_heat_of(enum sim_figure f, double x,
                              struct page_bounds b);

/* The mean of an interval, or NaN. */
double page_mean_of(const struct sim_interval *i);

/* Whether a figure has a value in any grid: without a fault, for example,
 * nothing recovers. */
bool page_is_swept(const struct sim_page_context *ctx, enum sim_figure f);

/* How many grids from this one on have one setting and one figure, so that
 * they go into one table or plot; at least 1. */
uint32_t page_grids_together(const struct sim_page_context *ctx, uint32_t from);

/* The class of a cell of a stability map, and what is written in it. */
const char *page_fate_class(const struct sim_cell *c);
const char *page_fate_text(char text[PAGE_TEXT], const struct sim_cell *c);

#endif
