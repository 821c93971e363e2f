/* Timelines of some clients: their attempts as bars, coloured by outcome, the
 * waits between them as thin lines. The same clients in all variants, with the
 * same luck, around the first fault. */
#include <math.h>

#include "sim/report/faults.h"
#include "sim/report/fleets.h"
#include "sim/report/plot/row.h"
#include "sim/report/text.h"
#include "sim/report/timeline.h"

enum {
    LANE_PX = 7,
    GAP_PX = 6,
    LEAST = 10,   /* the shortest bar: an attempt must be visible */
    MARKS = 1500, /* the maximum in a plot */
    FEW = 25
};

/* ===== the part of the run that is shown ===== */

static uint32_t most_marks(const struct page *p, const struct page_scale *x)
{
    uint32_t most = 0;

    for (uint32_t v = 0; v < p->s->n_variants; v++) {
        const struct sim_result *r = page_run(p->s, v);
        uint32_t n = 0;

        for (uint32_t i = 0; r && i < r->n_marks; i++)
            n += page_mark_within(&r->marks[i], x);
        most = n > most ? n : most;
    }
    return most;
}

/* Cuts off the ends where nothing happens. */
static struct page_scale trim(const struct page *p, struct page_scale x)
{
    double first = x.to, last = x.from;

    for (uint32_t v = 0; v < p->s->n_variants; v++) {
        const struct sim_result *r = page_run(p->s, v);

        for (uint32_t i = 0; r && i < r->n_marks; i++)
            if (page_mark_within(&r->marks[i], &x)) {
                first = fmin(first, (double)r->marks[i].from_ns);
                last = fmax(last, (double)r->marks[i].to_ns);
            }
    }
    if (last > first) {
        double edge = 0.05 * (last - first);

        x.from = fmax(x.from, first - edge);
        x.to = fmin(x.to, last + edge);
    }
    return x;
}

/* From a little before the first fault to a while after it; without a fault,
 * the beginning. Shorter if there is too much to see, longer if there is almost
 * nothing. */
static struct page_scale window(const struct page *p)
{
    struct page_band band;
    struct page_scale x = { .from = 0, .to = p->end_ns, .time = true };

    if (page_bands(p->s->model, p->end_ns, &band, 1) == 1) {
        double length = fmax(2.2 * (band.to_ns - band.from_ns), 4e9);

        x.from = fmax(0, band.from_ns - 0.2 * length);
        x.to = fmin(p->end_ns, x.from + length);
    } else {
        x.from = fmin((double)p->s->model->warm_up_ns, p->end_ns / 2);
        x.to = fmin(p->end_ns, x.from + 30e9);
    }
    while (most_marks(p, &x) > MARKS && x.to - x.from > 1e6)
        x.to = x.from + (x.to - x.from) / 2;
    while (most_marks(p, &x) < FEW && (x.from > 0 || x.to < p->end_ns)) {
        double more = (x.to - x.from) / 4;

        x.from = fmax(0, x.from - more / 2);
        x.to = fmin(p->end_ns, x.to + more);
    }
    return trim(p, x);
}

/* ===== drawing ===== */

struct canvas {
    FILE *out;
    struct page_axes axes;
    const struct page_timeline *t;
    const struct page_cast *cast;
    int height_px;
};

static int client_px(const struct canvas *c)
{
    return (int)c->cast->lanes * LANE_PX + GAP_PX;
}

static int y_of(const struct canvas *c, uint32_t i)
{
    double px = c->t->row[i] * client_px(c) + GAP_PX / 2.0 + LANE_PX / 2.0 +
                c->t->lane[i] * LANE_PX;

    return (int)(px / c->height_px * PAGE_H + 0.5);
}

static int x_of(const struct canvas *c, int64_t ns)
{
    double at = page_place(&c->axes.x, (double)ns);

    return (int)(fmin(fmax(at, 0), 1) * PAGE_W + 0.5);
}

static void draw_waits(const struct canvas *c)
{
    const struct page_timeline *t = c->t;

    fputs("<path class=\"wait\" d=\"", c->out);
    for (uint32_t i = 1; i < t->n; i++)
        if (page_mark_same_call(&t->marks[i - 1], &t->marks[i]) &&
            t->marks[i].from_ns > t->marks[i - 1].to_ns)
            fprintf(c->out, "M%d %dH%d", x_of(c, t->marks[i - 1].to_ns),
                    y_of(c, i), x_of(c, t->marks[i].from_ns));
    fputs("\"/>\n", c->out);
}

static void draw_kind(const struct canvas *c, enum sim_mark_kind kind,
                      const char *colour)
{
    const struct page_timeline *t = c->t;

    fprintf(c->out, "<path class=\"mark c-%s\" d=\"", colour);
    for (uint32_t i = 0; i < t->n; i++) {
        int x0 = x_of(c, t->marks[i].from_ns), x1 = x_of(c, t->marks[i].to_ns);

        if (t->marks[i].kind == kind)
            fprintf(c->out, "M%d %dh%d", x0, y_of(c, i),
                    x1 > x0 + LEAST ? x1 - x0 : LEAST);
    }
    fputs("\"/>\n", c->out);
}

/* Where a call was given up. */
static void draw_ends(const struct canvas *c)
{
    const struct page_timeline *t = c->t;
    int half = (int)(LANE_PX * 0.55 / c->height_px * PAGE_H + 0.5);

    fputs("<path class=\"gaveup\" d=\"", c->out);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->marks[i].last && t->marks[i].kind != SIM_MARK_OK &&
            t->marks[i].kind != SIM_MARK_OPEN &&
            (double)t->marks[i].to_ns <= c->axes.x.to)
            fprintf(c->out, "M%d %dv%d", x_of(c, t->marks[i].to_ns),
                    y_of(c, i) - half, 2 * half);
    fputs("\"/>\n", c->out);
}

static void name_clients(struct page *p, const struct canvas *c,
                         const struct sim_model *m)
{
    for (uint32_t i = 0; i < c->cast->n; i++) {
        uint32_t fleet = c->cast->who[i].fleet;

        fprintf(p->out, "<span class=\"y\" style=\"top:%dpx\">",
                (int)i * client_px(c) + client_px(c) / 2);
        if (m->n_fleets > 1 && fleet < m->n_fleets) {
            page_text(p->out, m->fleets[fleet].name);
            putc(' ', p->out);
        }
        fprintf(p->out, "%u</span>", c->cast->who[i].client + 1);
    }
}

static const struct {
    enum sim_mark_kind kind;
    const char *colour, *words;
} kinds[] = {
    { SIM_MARK_OK, "good", "succeeded" },
    { SIM_MARK_ERROR, "fail", "error" },
    { SIM_MARK_TIMEOUT, "timeout", "timed out" },
    { SIM_MARK_LOST, "hedge", "another was quicker" },
    { SIM_MARK_REFUSED, "refused", "not sent" },
    { SIM_MARK_OPEN, "calls", "still running" },
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool is_there(const struct sim_summary *s, enum sim_mark_kind kind)
{
    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_result *r = page_run(s, v);

        for (uint32_t i = 0; r && i < r->n_marks; i++)
            if (r->marks[i].kind == kind)
                return true;
    }
    return false;
}

static void legend(struct page *p)
{
    fputs("<p class=\"legend\">", p->out);
    for (int i = 0; i < KINDS; i++)
        if (is_there(p->s, kinds[i].kind))
            fprintf(p->out, "<span class=\"c-%s\">%s</span> ", kinds[i].colour,
                    kinds[i].words);
    fputs("</p>\n", p->out);
}

static void plot(struct page *p, uint32_t v, struct page_cast *cast)
{
    const struct sim_result *r = page_run(p->s, v);
    struct page_timeline t = page_timeline_of(r, cast);
    struct canvas c = {
        .out = p->out,
        .axes = { cast->x, { .from = 0, .to = 1, .unit = PAGE_COUNT } },
        .t = &t,
        .cast = cast,
    };

    c.height_px = (int)cast->n * client_px(&c);
    page_plot_open(p, v, NULL);
    page_frame_open(p, &c.axes, c.height_px, false);
    draw_waits(&c);
    for (int i = 0; i < KINDS; i++)
        draw_kind(&c, kinds[i].kind, kinds[i].colour);
    draw_ends(&c);
    page_frame_svg_close(p);
    name_clients(p, &c, r->model);
    page_frame_close(p, &c.axes, false);
    page_plot_close(p);
    page_timeline_done(&t);
}

/* The same number of lanes for all variants. */
static void measure(struct page *p, struct page_cast *cast)
{
    for (uint32_t v = 0; v < p->s->n_variants; v++)
        if (page_run(p->s, v)) {
            struct page_timeline t = page_timeline_of(page_run(p->s, v), cast);

            page_timeline_done(&t);
        }
}

void page_clients(struct page *p)
{
    struct page_cast cast = { .x = window(p), .lanes = 1 };

    page_cast_choose(&cast, p->s);
    if (cast.n == 0)
        return;
    measure(p, &cast);
    page_row_open(p, "Some clients",
                  "Each line is one client. Bars are attempts, thin lines are "
                  "waits, a dark tick is a call that was given up.");
    legend(p);
    fputs("<div class=\"plots clients\">\n", p->out);
    for (uint32_t v = 0; v < p->s->n_variants; v++)
        if (page_run(p->s, v))
            plot(p, v, &cast);
    fputs("</div>\n", p->out);
    page_row_close(p);
}
