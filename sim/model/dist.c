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

static double draw_percentile(const struct sim_dist *d, double u)
{
    const struct sim_dist_part *p = d->parts, *end = p + d->n_parts;
    while (p < end && u >= p->share)
        p++;
    if (p == end)
        return end[-1].from_ns;
    if (p == d->parts)
        return p->from_ns * u / p->share;
    double longer = 1 - p[-1].share;
    double along = sim_log((1 - u) / longer) / sim_log((1 - p->share) / longer);
    return p[-1].from_ns * sim_exp(along * sim_log(p->from_ns / p[-1].from_ns));
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
    case SIM_PERCENTILES:
        return draw_percentile(d, u);
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

/* The area below the share that takes longer, which falls by t^-a between two
 * points. */
static double mean_of_percentiles(const struct sim_dist *d)
{
    const struct sim_dist_part *p = d->parts, *end = p + d->n_parts;
    double sum = p->from_ns * (1 - p->share / 2);
    for (; p + 1 < end; p++) {
        double wide = sim_log(p[1].from_ns / p->from_ns);
        double falls = sim_log((1 - p->share) / (1 - p[1].share));
        double x = wide - falls; /* (1 - a) ln (t1 / t0) */
        double share = x > 1e-9 || x < -1e-9 ? (sim_exp(x) - 1) / x : 1;
        sum += (1 - p->share) * p->from_ns * wide * share;
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
    case SIM_PERCENTILES:
        return mean_of_percentiles(d);
    default:
        return d->at_ns;
    }
}
