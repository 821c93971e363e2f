/* Inverse distribution functions. */
#include "dist.h"

#include "luck.h"
#include "number.h"

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
    default:
        return d->at_ns;
    }
}

int64_t sim_dist_draw(const struct sim_dist *d, uint64_t word)
{
    if (d->kind == SIM_CONSTANT)
        return (int64_t)d->at_ns;
    double x = draw(d, sim_luck_unit(word)) + 0.5;
    return x < 0x1p62 ? (int64_t)x : INT64_C(1) << 62;
}
