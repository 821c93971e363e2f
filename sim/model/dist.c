/* Draws durations: the inverse of each distribution function. */
#include "sim/model/dist.h"

#include <math.h>

static double draw(const struct sim_dist *d, double u);

/* Which part u falls into, and where in that part: *u, from 0 to 1. What
 * rounding leaves after the last goes to the last. */
static const struct sim_dist_part *part_of(const struct sim_dist *d, double *u)
{
    const struct sim_dist_part *p = d->parts, *last = p + d->n_parts - 1;
    while (p < last && *u >= p->share)
        *u -= p++->share;
    *u /= p->share;
    *u = *u < 0x1p-53 ? 0x1p-53 : *u > 1 - 0x1p-53 ? 1 - 0x1p-53 : *u;
    return p;
}

static double draw_part(const struct sim_dist *d, double u)
{
    const struct sim_dist_part *p = part_of(d, &u);
    if (d->kind == SIM_MIXTURE)
        return draw(&p->of, u);
    return p->from_ns + (p->upto_ns - p->from_ns) * u;
}

static double draw(const struct sim_dist *d, double u)
{
    double x;
    switch (d->kind) {
    case SIM_EXPONENTIAL:
        return -d->at_ns * sim_log(1 - u);
    case SIM_NORMAL:
        x = d->at_ns + d->spread * sim_normal_quantile(u);
        return x < 0 ? -x : x;
    case SIM_LOGNORMAL:
        return d->at_ns * sim_exp(d->spread * sim_normal_quantile(u));
    case SIM_PARETO:
        return d->at_ns * sim_exp(-sim_log(1 - u) / d->spread);
    case SIM_MIXTURE:
    case SIM_EMPIRICAL:
        return draw_part(d, u);
    default:
        return d->at_ns;
    }
}

int64_t sim_dist_draw_any(const struct sim_dist *d, uint64_t word)
{
    double x = draw(d, sim_luck_unit(word)) + 0.5;
    return x < 0x1p62 ? (int64_t)x : INT64_C(1) << 62;
}

/* ===== means ===== */

/* The folded normal has no simple one: the mean of its quantiles. */
static double mean_of_quantiles(const struct sim_dist *d)
{
    enum { N = 4096 };
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += draw(d, (i + 0.5) / N);
    return sum / N;
}

static double mean_of_parts(const struct sim_dist *d)
{
    double sum = 0;
    for (uint32_t i = 0; i < d->n_parts; i++) {
        const struct sim_dist_part *p = &d->parts[i];
        sum += p->share * (d->kind == SIM_MIXTURE
                               ? sim_dist_mean(&p->of)
                               : (p->from_ns + p->upto_ns) / 2);
    }
    return sum;
}

double sim_dist_mean(const struct sim_dist *d)
{
    switch (d->kind) {
    case SIM_NORMAL:
        return mean_of_quantiles(d);
    case SIM_LOGNORMAL:
        return d->at_ns * sim_exp(d->spread * d->spread / 2);
    case SIM_PARETO:
        return d->spread > 1 ? d->at_ns * d->spread / (d->spread - 1)
                             : INFINITY;
    case SIM_MIXTURE:
    case SIM_EMPIRICAL:
        return mean_of_parts(d);
    default:
        return d->at_ns;
    }
}
