/* From values to places in a plot (scale.c), and curves as paths of SVG
 * (path.c). */
#ifndef BIDE_SIM_REPORT_PLOT_SCALE_H
#define BIDE_SIM_REPORT_PLOT_SCALE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/report/text.h"

/* The inside of every plot, in units of its SVG. */
enum { PAGE_W = 1500, PAGE_H = 600, PAGE_TICKS = 12 };

struct page_scale {
    double from, to; /* to > from */
    bool log;
    enum page_unit unit; /* or ... */
    bool time;           /* ... ns, on a time axis */
};

/* 0 at `from`, 1 at `to`; not clipped. */
double page_place(const struct page_scale *s, double x);

/* Round values for about `wanted` ticks; returns how many there are. */
int page_ticks(const struct page_scale *s, int wanted, double at[PAGE_TICKS]);

/* The label of a tick. */
const char *page_tick(char text[PAGE_TEXT], const struct page_scale *s,
                      double x);

/* Values over time; NaN: a gap. Over several seeds, y is the median, and nine
 * in ten values are above `low`, nine in ten below `high`. */
struct page_curve {
    double *y;
    double *low, *high; /* or NULL: of one seed */
    uint32_t n;
    double step_ns;
};

/* The scales of a plot. */
struct page_axes {
    struct page_scale x, y;
};

void page_path_line(FILE *out, const struct page_axes *a,
                    const struct page_curve *c);
void page_path_steps(FILE *out, const struct page_axes *a,
                     const struct page_curve *c);

/* Between two curves of the same steps; below NULL: the axis. Gaps count as the
 * lower edge. */
void page_path_area(FILE *out, const struct page_axes *a,
                    const struct page_curve *c, const double *below);

/* A scale from 0 to a little above `most`. */
struct page_scale page_scale_to(double most, enum page_unit unit);

#endif
