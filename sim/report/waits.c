/* Waits before retries: bars for those that were decided; an outline for what
 * the policy's backoff alone would give, drawn by the engine itself: as many
 * waits before a first retry, a second one and so on as there were. If a server
 * asks for longer waits, the two differ. */
#include <math.h>
#include <string.h>

#include "sim/report/models.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/retries.h"
#include "sim/report/text.h"

enum { BINS = 50, DRAWS = 20000, FLEETS = 4, HEIGHT_PX = 130 };

struct bars {
    double share[BINS]; /* of all waits */
    double most;
};

static const struct sim_caller_result *caller(const struct page *p, uint32_t v,
                                              uint32_t fleet)
{
    const struct sim_result *r = page_run(p->s, v);

    return r && fleet < r->n_callers && r->callers[fleet].is_fleet
               ? &r->callers[fleet]
               : NULL;
}

static int bin_of(double ns, double end_ns)
{
    return ns < end_ns ? (int)(ns / end_ns * BINS) : BINS - 1;
}

static struct bars bars_of(const struct sim_caller_result *c, double end_ns)
{
    struct bars b = { .most = 0 };

    for (unsigned i = 0; i < SIM_BUCKETS; i++) {
        double mid = (sim_histogram_from(i) + sim_histogram_from(i + 1)) / 2;

        if (c->wait.bucket[i])
            b.share[bin_of(mid, end_ns)] +=
                (double)c->wait.bucket[i] / (double)c->wait.count;
    }
    for (int i = 0; i < BINS; i++)
        b.most = fmax(b.most, b.share[i]);
    return b;
}

static void draw_bars(FILE *out, const struct bars *b, double top)
{
    fputs("<path class=\"bars c-retry\" d=\"", out);
    for (int i = 0; i < BINS; i++) {
        int height = (int)(b->share[i] / top * PAGE_H + 0.5);

        if (b->share[i] > 0)
            fprintf(out, "M%d %dv-%dh%dv%dz", i * PAGE_W / BINS, PAGE_H,
                    height > 3 ? height : 3, PAGE_W / BINS - 4,
                    height > 3 ? height : 3);
    }
    fputs("\"/>\n", out);
}

/* ===== what the policy alone would give ===== */

static const bide_policy_conf *policy_of(const struct sim_model *m,
                                         const char *name)
{
    for (uint32_t i = 0; name && i < m->n_policies; i++)
        if (strcmp(m->policies[i].name, name) == 0)
            return &m->policies[i].conf;
    return NULL;
}

/* Words that fill their range evenly, so that a uniform distribution looks
 * flat: the i-th is i times an odd number, a different one for each retry of a
 * call. */
struct even {
    uint64_t word, step;
};

static uint64_t next_even(void *state)
{
    struct even *e = state;

    return e->word += e->step;
}

/* Simulates endless calls; each wait is weighted by how many waits of its
 * number there were. */
static struct bars ideal_of(const struct sim_caller_result *c,
                            const bide_backoff *backoff, double end_ns)
{
    struct bars b = { .most = 0 };
    struct even even[SIM_RETRY_NUMBERS];
    double all = (double)c->wait.count * DRAWS;

    for (uint32_t n = 0; n < SIM_RETRY_NUMBERS; n++)
        even[n] = (struct even){ 0, bide_rng_hash(n, 0, 0, 0) | 1 };
    for (int i = 0; i < DRAWS; i++) {
        int64_t wait = 0;

        for (uint32_t n = 0; n < SIM_RETRY_NUMBERS && c->total.by_number[n];
             n++) {
            bide_rng rng = { next_even, &even[n] };

            wait = bide_backoff_wait(backoff, n, wait, &rng);
            b.share[bin_of((double)wait, end_ns)] +=
                (double)c->total.by_number[n] / all;
        }
    }
    return b;
}

static void draw_ideal(FILE *out, const struct bars *b, double top)
{
    fprintf(out, "<path class=\"ideal\" d=\"M0 %d", PAGE_H);
    for (int i = 0; i < BINS; i++) {
        double up = fmin(b->share[i] / top, 1);

        fprintf(out, "V%dH%d", PAGE_H - (int)(up * PAGE_H + 0.5),
                (i + 1) * PAGE_W / BINS);
    }
    fprintf(out, "V%d\"/>\n", PAGE_H);
}

/* ===== one row for each fleet ===== */

/* Each on its own scale: the shape matters, and waits without jitter would
 * dwarf all others. */
static void plot(struct page *p, uint32_t v, uint32_t fleet, double end_ns)
{
    const struct sim_caller_result *c = caller(p, v, fleet);
    const struct sim_model *m = page_run(p->s, v)->model;
    const bide_policy_conf *conf = policy_of(m, c->policy);
    struct bars b = bars_of(c, end_ns);
    struct page_axes a = {
        { .from = 0, .to = end_ns / 1e9, .unit = PAGE_SECONDS },
        { .from = 0, .to = b.most > 0 ? b.most * 1.15 : 1, .unit = PAGE_SHARE },
    };
    char text[PAGE_TEXT], more[PAGE_TEXT + 16];

    snprintf(more, sizeof more, "%s waits",
             page_number(text, PAGE_COUNT, (double)c->wait.count));
    page_plot_open(p, v, more);
    page_frame_open(p, &a, HEIGHT_PX, c->wait.count > 0);
    draw_bars(p->out, &b, a.y.to);
    if (conf && c->wait.count) {
        struct bars ideal = ideal_of(c, &conf->backoff, end_ns);

        draw_ideal(p->out, &ideal, a.y.to);
    }
    page_frame_svg_close(p);
    if (!c->wait.count)
        fputs("<span class=\"no\">none</span>", p->out);
    page_frame_close(p, &a, c->wait.count > 0);
    page_plot_close(p);
}

/* The time range of the waits of all variants; 0: there were none. */
static double longest(const struct page *p, uint32_t fleet)
{
    double end_ns = 0;

    for (uint32_t v = 0; v < p->s->n_variants; v++)
        if (caller(p, v, fleet) && caller(p, v, fleet)->wait.count)
            end_ns =
                fmax(end_ns,
                     sim_histogram_quantile(&caller(p, v, fleet)->wait, 0.995));
    return end_ns * 1.05;
}

static void row(struct page *p, uint32_t fleet)
{
    double end_ns = longest(p, fleet);
    char title[200];

    if (!(end_ns > 0))
        return;
    snprintf(title, sizeof title, "Waits before retries of %.150s",
             p->s->model->fleets[fleet].name);
    page_row_open(p, title,
                  "Bars: the waits that were decided, as a share of all; the "
                  "last one holds the longer ones too. Outline: what the "
                  "policy's backoff alone would give, for as many first "
                  "retries, second retries and so on. Heights "
                  "differ from plot to plot.");
    fputs("<div class=\"plots\">\n", p->out);
    for (uint32_t v = 0; v < p->s->n_variants; v++)
        if (caller(p, v, fleet))
            plot(p, v, fleet, end_ns);
    fputs("</div>\n", p->out);
    page_row_close(p);
}

void page_waits(struct page *p)
{
    for (uint32_t i = 0;
         page_is_alike(p->s) && i < p->s->model->n_fleets && i < FLEETS; i++)
        row(p, i);
}
