/* A sheet: the curves of one row for all variants, on one scale. */
#include "sim/report/plot/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/report/plot/band.h"
#include "sim/report/plot/row.h"
#include "sim/report/text.h"

struct page_curve *page_sheet_curve(const struct page_sheet *s, uint32_t v,
                                    uint32_t l)
{
    return &s->curve[v * s->row->n_layers + l];
}

static bool has_something(const struct page_curve *c)
{
    for (uint32_t i = 0; c->y && i < c->n; i++)
        if (c->y[i] > 0)
            return true;
    return false;
}

/* How many points fit in a plot: more variants, narrower plots. */
static uint32_t points_for(uint32_t variants)
{
    return variants <= 3 || variants == 6 ? 320 : 160;
}

static void fetch(struct page_sheet *s)
{
    uint32_t points =
        s->row->points ? s->row->points : points_for(s->of->n_variants);

    for (uint32_t v = 0; v < s->of->n_variants; v++)
        for (uint32_t l = 0; l < s->row->n_layers && page_run(s->of, v); l++) {
            const struct page_layer *layer = &s->row->layers[l];
            struct page_curve *c = page_sheet_curve(s, v, l);

            *c = page_band(s->of, v, layer->get, layer->what, points);
            s->shown[l] = s->shown[l] || has_something(c);
        }
}

/* ===== the scale ===== */

static bool is_limit(const struct page_layer *l)
{
    return l->how == PAGE_STEPS || l->how == PAGE_OVER;
}

/* Of the curves, or of the limits. */
static double most_of(const struct page_sheet *s, uint32_t v, bool limits)
{
    const struct page_row *row = s->row;
    double most = 0;

    for (uint32_t l = 0; l < row->n_layers; l++) {
        const struct page_curve *c = page_sheet_curve(s, v, l);

        if (is_limit(&row->layers[l]) != limits)
            continue;
        for (uint32_t i = 0; c->y && s->shown[l] && i < c->n; i++) {
            double y = c->y[i];
            /* The height of a stack is its sum. */
            for (uint32_t k = 0; row->layers[l].how == PAGE_STACK && k < l; k++)
                if (row->layers[k].how == PAGE_STACK &&
                    page_sheet_curve(s, v, k)->y &&
                    page_sheet_curve(s, v, k)->y[i] > 0)
                    y += page_sheet_curve(s, v, k)->y[i];
            if (c->high && row->layers[l].how != PAGE_STACK)
                y = c->high[i];
            if (isfinite(y) && y > most)
                most = y;
        }
    }
    return most;
}

static double least_of(const struct page_sheet *s, uint32_t v)
{
    double least = INFINITY;

    for (uint32_t l = 0; l < s->row->n_layers; l++) {
        const struct page_curve *c = page_sheet_curve(s, v, l);

        for (uint32_t i = 0; c->y && i < c->n; i++)
            if (c->y[i] > 0 && c->y[i] < least)
                least = c->y[i];
    }
    return least;
}

/* A capacity far above the traffic is not drawn to scale, nor is a storm far
 * above the capacity: page_sheet_beyond() says how far they go. */
static double top_of_load(double traffic, double limit)
{
    if (!(limit > 0) || !(traffic > 0))
        return fmax(limit, traffic);
    if (limit > 3 * traffic)
        return 1.3 * traffic;
    return traffic > 4 * limit ? 3 * limit : fmax(limit, traffic);
}

static void set_scale(struct page_sheet *s)
{
    double most = 0, limit = 0, least = INFINITY;

    for (uint32_t v = 0; v < s->of->n_variants; v++) {
        most = fmax(most, most_of(s, v, false));
        limit = fmax(limit, most_of(s, v, true));
        least = fmin(least, least_of(s, v));
    }
    most = s->row->of_load ? top_of_load(most, limit) : fmax(most, limit);
    s->scale = page_scale_to(most, s->row->unit);
    if (s->row->top > 0)
        s->scale.to = s->row->top;
    if (!s->row->log || !isfinite(least))
        return;
    s->scale.log = true;
    s->scale.from = least * 0.8;
    s->scale.to = fmax(most, least * 8) * 1.25;
}

double page_sheet_beyond(const struct page_sheet *s, uint32_t v, uint32_t l)
{
    const struct page_curve *c = page_sheet_curve(s, v, l);
    double most = 0;

    for (uint32_t i = 0; s->row->of_load && c->y && i < c->n; i++)
        if (isfinite(c->y[i]))
            most = fmax(most, c->y[i]);
    return most > s->scale.to ? most : 0;
}

bool page_sheet_has(const struct page_sheet *s, uint32_t v)
{
    for (uint32_t l = 0; l < s->row->n_layers; l++)
        if (!is_limit(&s->row->layers[l]) &&
            has_something(page_sheet_curve(s, v, l)))
            return true;
    return false;
}

/* ===== drawing ===== */

static void path_open(FILE *out, const char *how, const struct page_layer *l)
{
    fprintf(out, "<path class=\"%s c-%s\"", how, l->colour);
    if (strcmp(how, "tint") != 0 && strcmp(how, "over") != 0 &&
        strcmp(how, "band") != 0) {
        fputs(" data-n=\"", out);
        page_words(out, l->name);
        putc('"', out);
    }
    fputs(" d=\"", out);
}

/* Where the load exceeds this: between this and the greater of the two. */
static void draw_over(FILE *out, const struct page_axes *a,
                      const struct page_layer *layer,
                      const struct page_curve *load,
                      const struct page_curve *limit)
{
    struct page_curve most = *limit;

    if (!load->y || load->n != limit->n)
        return;
    most.y = sim_new(limit->n, sizeof(double));
    bool any = false;
    for (uint32_t i = 0; i < limit->n; i++) {
        most.y[i] = fmax(load->y[i], limit->y[i]);
        any = any || most.y[i] > limit->y[i];
    }
    if (any) {
        path_open(out, "over", layer);
        page_path_area(out, a, &most, limit->y);
        fputs("\"/>\n", out);
    }
    free(most.y);
}

static void draw_stack(FILE *out, const struct page_axes *a,
                       const struct page_layer *layer, struct page_curve *c,
                       double *below)
{
    for (uint32_t i = 0; i < c->n; i++)
        c->y[i] = below[i] + (c->y[i] > 0 ? c->y[i] : 0);
    path_open(out, "stack", layer);
    page_path_area(out, a, c, below);
    fputs("\"/>\n", out);
    memcpy(below, c->y, c->n * sizeof(double));
}

/* The range over the seeds, where there is a line to go with it. */
static void draw_band(FILE *out, const struct page_axes *a,
                      const struct page_layer *layer,
                      const struct page_curve *c)
{
    struct page_curve high = { .y = c->high, .n = c->n, .step_ns = c->step_ns };

    if (!c->high || layer->how == PAGE_STEPS)
        return;
    path_open(out, "band", layer);
    page_path_area(out, a, &high, c->low);
    fputs("\"/>\n", out);
}

static void draw_curve(FILE *out, const struct page_axes *a,
                       const struct page_layer *layer,
                       const struct page_curve *c)
{
    if (layer->how == PAGE_AREA) {
        path_open(out, "tint", layer);
        page_path_area(out, a, c, NULL);
        fputs("\"/>\n", out);
    }
    draw_band(out, a, layer, c);
    path_open(out, layer->how == PAGE_STEPS ? "steps" : "line", layer);
    if (layer->how == PAGE_STEPS)
        page_path_steps(out, a, c);
    else
        page_path_line(out, a, c);
    fputs("\"/>\n", out);
}

void page_sheet_draw(FILE *out, const struct page_sheet *s,
                     const struct page_axes *a, uint32_t v)
{
    const struct page_row *row = s->row;
    double *below = NULL;

    for (uint32_t l = 0; l < row->n_layers; l++) {
        struct page_curve *c = page_sheet_curve(s, v, l);
        const struct page_layer *layer = &row->layers[l];

        if (!s->shown[l] || !c->y)
            continue;
        if (!below)
            below = sim_new(c->n, sizeof(double));
        if (layer->how == PAGE_OVER)
            draw_over(out, a, layer, page_sheet_curve(s, v, 0), c);
        else if (layer->how == PAGE_STACK)
            draw_stack(out, a, layer, c, below);
        else
            draw_curve(out, a, layer, c);
    }
    free(below);
}

/* ===== making one ===== */

static bool is_worth_it(const struct page_sheet *s)
{
    for (uint32_t l = 0; l < s->row->n_layers; l++)
        if (s->shown[l] && !is_limit(&s->row->layers[l]))
            return true;
    return false;
}

bool page_sheet_make(struct page_sheet *s, const struct sim_summary *of,
                     const struct page_row *row)
{
    size_t n = (size_t)of->n_variants * row->n_layers;

    *s = (struct page_sheet){ .of = of,
                              .row = row,
                              .curve = sim_new(n, sizeof(struct page_curve)),
                              .shown = sim_new(row->n_layers, sizeof(bool)) };
    fetch(s);
    set_scale(s);
    return is_worth_it(s);
}

void page_sheet_done(struct page_sheet *s)
{
    for (size_t i = 0; i < (size_t)s->of->n_variants * s->row->n_layers; i++)
        page_curve_done(&s->curve[i]);
    free(s->curve);
    free(s->shown);
}
