/* Curves as SVG paths, in whole units of the plot: relative, and without
 * collinear points, so that a page with a hundred curves stays small.
 *
 *     M0 580l5-12 5 3 250 0          a line; then, for an area, its lower edge:
 *     L1500 600 0 600z
 *
 * page.js reads the values back from there: the lower edge is everything from
 * an L to a z. */
#include <math.h>
#include <stdlib.h>

#include "sim/report/plot/curves.h"
#include "sim/report/plot/scale.h"

/* A path while it is written. The last point is held back, because the next one
 * may make it superfluous. */
struct pen {
    FILE *out;
    bool down;      /* a point was written */
    bool waiting;   /* x, y was not */
    bool first;     /* nothing follows the letter yet */
    int at_x, at_y; /* written */
    int x, y;       /* the last one */
};

static void put_number(FILE *out, int n, bool first)
{
    fprintf(out, first || n < 0 ? "%d" : " %d", n);
}

static void flush(struct pen *p)
{
    if (!p->waiting)
        return;
    if (p->first)
        putc('l', p->out);
    put_number(p->out, p->x - p->at_x, p->first);
    put_number(p->out, p->y - p->at_y, false);
    p->first = false;
    p->at_x = p->x;
    p->at_y = p->y;
    p->waiting = false;
}

static void lift(struct pen *p)
{
    flush(p);
    p->down = false;
}

/* Whether the held-back point lies between the one before and the next. */
static bool on_the_way(const struct pen *p, int x, int y)
{
    long ax = p->x - p->at_x, ay = p->y - p->at_y;
    long bx = x - p->x, by = y - p->y;

    return ax * by == ay * bx && ax * bx >= 0 && ay * by >= 0;
}

static void point(struct pen *p, int x, int y)
{
    if (!p->down) {
        fprintf(p->out, "M%d %d", x, y);
        p->at_x = p->x = x;
        p->at_y = p->y = y;
        p->down = p->first = true;
        p->waiting = false;
        return;
    }
    if (p->waiting && !on_the_way(p, x, y))
        flush(p);
    p->x = x;
    p->y = y;
    p->waiting = true;
}

static int clamp(double x, int most)
{
    return !(x > 0) ? 0 : x >= 1 ? most : (int)(x * most + 0.5);
}

static int place_x(const struct page_axes *a, double ns)
{
    return clamp(page_place(&a->x, ns), PAGE_W);
}

static int place_y(const struct page_axes *a, double y)
{
    return PAGE_H - clamp(page_place(&a->y, y), PAGE_H);
}

/* The middle of step i; the first and the last reach the edges. */
static int x_of(const struct page_axes *a, const struct page_curve *c,
                uint32_t i)
{
    double at = i == 0 ? 0 : i + 1 == c->n ? c->n : i + 0.5;

    return place_x(a, at * c->step_ns);
}

void page_path_line(FILE *out, const struct page_axes *a,
                    const struct page_curve *c)
{
    struct pen p = { .out = out };

    for (uint32_t i = 0; i < c->n; i++) {
        if (isnan(c->y[i])) {
            lift(&p);
            continue;
        }
        point(&p, x_of(a, c, i), place_y(a, c->y[i]));
        /* A single point is drawn too: a dot, if the line's ends are round. */
        if (c->n == 1 || i + 1 == c->n || isnan(c->y[i + 1]))
            point(&p, x_of(a, c, i), place_y(a, c->y[i]));
    }
    lift(&p);
}

void page_path_steps(FILE *out, const struct page_axes *a,
                     const struct page_curve *c)
{
    struct pen p = { .out = out };

    for (uint32_t i = 0; i < c->n; i++) {
        if (isnan(c->y[i])) {
            lift(&p);
            continue;
        }
        point(&p, place_x(a, i * c->step_ns), place_y(a, c->y[i]));
        point(&p, place_x(a, (i + 1) * c->step_ns), place_y(a, c->y[i]));
    }
    lift(&p);
}

static double or_below(double y, double below)
{
    return isnan(y) || y < below ? below : y;
}

/* ===== areas ===== */

static void lower_edge(FILE *out, const struct page_axes *a,
                       const struct page_curve *c, const double *below,
                       uint32_t from, uint32_t to)
{
    int last_y = -1;

    putc('L', out);
    for (uint32_t i = to; i-- > from;) {
        int y = place_y(a, below[i]);
        /* For a flat stretch its two ends are enough. */
        if (i > from && i + 1 < to && y == last_y &&
            y == place_y(a, below[i - 1]))
            continue;
        fprintf(out, "%s%d %d", i + 1 < to ? " " : "", x_of(a, c, i), y);
        last_y = y;
    }
    putc('z', out);
}

static void upper_edge(FILE *out, const struct page_axes *a,
                       const struct page_curve *c, const double *below,
                       uint32_t from, uint32_t to)
{
    struct pen p = { .out = out };

    for (uint32_t i = from; i < to; i++)
        point(&p, x_of(a, c, i),
              place_y(a, or_below(c->y[i], below ? below[i] : a->y.from)));
    lift(&p);
}

static bool is_thick(const struct page_axes *a, const struct page_curve *c,
                     const double *below, uint32_t i)
{
    return place_y(a, or_below(c->y[i], below[i])) != place_y(a, below[i]);
}

/* Only if it is visible: the outline of an empty area would be a line. */
static void area_between(FILE *out, const struct page_axes *a,
                         const struct page_curve *c, const double *below)
{
    for (uint32_t i = 0, end; i < c->n; i = end) {
        uint32_t from = i > 0 ? i - 1 : 0;

        end = i + 1;
        if (!is_thick(a, c, below, i))
            continue;
        while (end < c->n && is_thick(a, c, below, end))
            end++;
        end += end < c->n;
        upper_edge(out, a, c, below, from, end);
        lower_edge(out, a, c, below, from, end);
    }
}

void page_path_area(FILE *out, const struct page_axes *a,
                    const struct page_curve *c, const double *below)
{
    if (below) {
        area_between(out, a, c, below);
        return;
    }
    upper_edge(out, a, c, NULL, 0, c->n);
    fprintf(out, "L%d %d 0 %dz", place_x(a, c->n * c->step_ns), PAGE_H, PAGE_H);
}
