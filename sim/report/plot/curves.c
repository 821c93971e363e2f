/* What is drawn: series of a run, summed over those with the same meaning, in
 * the units of the axis. */
#include "sim/report/plot/curves.h"

#include <math.h>
#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/report/plot/scale.h"

const struct sim_result *page_run(const struct sim_summary *s, uint32_t v)
{
    const struct sim_result *r = s->variants[v].first;

    return r && r->n_steps > 0 && r->step_ns > 0 ? r : NULL;
}

static double per_second(const struct sim_result *r)
{
    return 1e9 / (double)r->step_ns;
}

/* y += channel * factor. */
static void add(const struct sim_result *r, const double *channel,
                double factor, double *y)
{
    for (uint32_t i = 0; i < r->n_steps; i++)
        y[i] += channel[i] * factor;
}

/* ===== callers ===== */

static bool add_fleets(const struct sim_result *r, uint32_t what, double factor,
                       double *y)
{
    bool any = false;

    for (uint32_t i = 0; i < r->n_callers; i++)
        if (r->callers[i].is_fleet && r->callers[i].value[what]) {
            add(r, r->callers[i].value[what], factor, y);
            any = true;
        }
    return any;
}

bool page_of_fleets(const struct sim_result *r, uint32_t what, double *y)
{
    return add_fleets(r, what, per_second(r), y);
}

bool page_level_of_fleets(const struct sim_result *r, uint32_t what, double *y)
{
    return add_fleets(r, what, 1, y);
}

bool page_first_attempts(const struct sim_result *r, uint32_t what, double *y)
{
    (void)what;
    return add_fleets(r, SIM_ATTEMPTS, per_second(r), y) &&
           add_fleets(r, SIM_RETRIES, -per_second(r), y) &&
           add_fleets(r, SIM_HEDGES, -per_second(r), y);
}

static bool of_fleet(const struct sim_result *r, uint32_t fleet,
                     uint32_t channel, double *y)
{
    if (fleet >= r->n_callers || !r->callers[fleet].is_fleet ||
        !r->callers[fleet].value[channel])
        return false;
    add(r, r->callers[fleet].value[channel], per_second(r), y);
    return true;
}

bool page_fleet_attempts(const struct sim_result *r, uint32_t what, double *y)
{
    return of_fleet(r, what, SIM_ATTEMPTS, y);
}

bool page_fleet_goodput(const struct sim_result *r, uint32_t what, double *y)
{
    return of_fleet(r, what, SIM_SUCCESSES, y);
}

bool page_reason(const struct sim_result *r, uint32_t what, double *y)
{
    bool any = false;

    for (uint32_t i = 0; i < r->n_callers; i++) {
        const uint32_t *ended = r->callers[i].by_reason[what];

        if (!r->callers[i].is_fleet || !ended)
            continue;
        any = true;
        for (uint32_t k = 0; k < r->n_steps; k++)
            y[k] += ended[k] * per_second(r);
    }
    return any;
}

/* Fleets are weighted by their processes; services that call others count as
 * one. */
bool page_breakers(const struct sim_result *r, uint32_t what, double *y)
{
    double all = 0;

    for (uint32_t i = 0; i < r->n_callers; i++) {
        const struct sim_caller_result *c = &r->callers[i];
        double weight = c->is_fleet && i < r->model->n_fleets
                            ? r->model->fleets[i].processes
                            : 1;

        if (!c->value[what])
            continue;
        all += weight;
        add(r, c->value[what], weight, y);
    }
    for (uint32_t k = 0; all > 0 && k < r->n_steps; k++)
        y[k] /= all;
    return all > 0;
}

bool page_budget(const struct sim_result *r, uint32_t what, double *y)
{
    bool any = false;

    (void)what;
    for (uint32_t i = 0; i < r->n_callers; i++) {
        const double *left = r->callers[i].value[SIM_BUDGET];

        if (!r->callers[i].is_fleet || !left || left[0] < 0)
            continue;
        any = true;
        add(r, left, 1, y);
    }
    return any;
}

/* That of the slowest fleet: a mean of quantiles is meaningless. */
static bool latency(const struct sim_result *r, uint32_t what, double *y)
{
    bool any = false;

    for (uint32_t k = 0; k < r->n_steps; k++)
        y[k] = NAN;
    for (uint32_t i = 0; i < r->n_callers; i++) {
        const double *ns = r->callers[i].value[what];

        if (!r->callers[i].is_fleet || !ns)
            continue;
        for (uint32_t k = 0; k < r->n_steps; k++)
            if (ns[k] > 0 && !(y[k] >= ns[k] / 1e9)) {
                y[k] = ns[k] / 1e9;
                any = true;
            }
    }
    return any;
}

bool page_p50(const struct sim_result *r, uint32_t what, double *y)
{
    (void)what;
    return latency(r, SIM_P50_NS, y);
}

bool page_p99(const struct sim_result *r, uint32_t what, double *y)
{
    (void)what;
    return latency(r, SIM_P99_NS, y);
}

bool page_oldest(const struct sim_result *r, uint32_t what, double *y)
{
    (void)what;
    return latency(r, SIM_OLDEST_NS, y);
}

/* ===== fewer points ===== */

/* Each point stands for the same number of steps; a remainder at the end makes
 * a shorter one. Gaps do not count. */
static uint32_t merge(double *y, uint32_t n, uint32_t each)
{
    uint32_t points = 0;

    for (uint32_t i = 0; i < n; i += each) {
        double sum = 0;
        uint32_t counted = 0;

        for (uint32_t k = i; k < n && k < i + each; k++)
            if (!isnan(y[k])) {
                sum += y[k];
                counted++;
            }
        y[points++] = counted ? sum / counted : NAN;
    }
    return points;
}

struct page_curve page_curve(const struct sim_result *r, page_get *get,
                             uint32_t what, uint32_t points)
{
    uint32_t each = (r->n_steps + points - 1) / points;
    struct page_curve c = { .y = sim_new(r->n_steps, sizeof(double)) };

    if (!get(r, what, c.y)) {
        free(c.y);
        return (struct page_curve){ .y = NULL };
    }
    c.n = merge(c.y, r->n_steps, each);
    c.step_ns = (double)r->step_ns * each;
    return c;
}

void page_curve_done(struct page_curve *c)
{
    free(c->y);
    free(c->low);
    free(c->high);
}
