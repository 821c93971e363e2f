/* The curves of a summary, a column at a time. */
#include "cmd/sim/chart_data.h"

#include <math.h>
#include <stdlib.h>

#include "sim/report/plot/band.h"
#include "sim/report/text.h"

/* Computes the mean of the steps in each column; gaps do not count. */
static void fill(const struct chart *c, uint32_t v, page_get *get,
                 uint32_t what, double *columns)
{
    struct page_curve curve = page_band(c->s, v, get, what, 2 * CHART_WIDEST);
    double per_column = c->end_ns / c->columns;

    for (int i = 0; i < c->columns; i++) {
        double sum = 0, from = i * per_column / curve.step_ns;
        uint32_t n = 0;

        for (uint32_t k = (uint32_t)from;
             curve.y && k < curve.n &&
             (n == 0 || (k + 0.5) * curve.step_ns < (i + 1) * per_column);
             k++, n++)
            sum += curve.y[k];
        columns[i] = n ? sum / n : (double)NAN;
    }
    page_curve_done(&curve);
}

void chart_fill(const struct chart *c, uint32_t v, struct columns *to)
{
    fill(c, v, page_of_fleets, SIM_ATTEMPTS, to->offered);
    fill(c, v, page_of_fleets, SIM_SUCCESSES, to->good);
    fill(c, v, page_capacity, 0, to->capacity);
}

static double most_of(const struct chart *c, const struct columns *d)
{
    double most = 0;

    for (int i = 0; i < c->columns; i++) {
        const double all[] = { d->offered[i], d->good[i], d->capacity[i] };

        for (int k = 0; k < 3; k++)
            if (isfinite(all[k]) && all[k] > most)
                most = all[k];
    }
    return most;
}

bool chart_measure(struct chart *c)
{
    struct columns d;
    double most = 0;

    for (uint32_t v = 0; v < c->s->n_variants; v++) {
        const struct sim_result *r = page_run(c->s, v);

        if (r)
            c->end_ns = fmax(c->end_ns, (double)r->step_ns * r->n_steps);
    }
    for (uint32_t v = 0; v < c->s->n_variants; v++)
        if (page_run(c->s, v)) {
            chart_fill(c, v, &d);
            most = fmax(most, most_of(c, &d));
        }
    c->scale = page_scale_to(most / 1.05, PAGE_RATE);
    return most > 0;
}
