/* Distributions of durations: one random word in, one duration out.
 *
 *     struct sim_dist service = sim_exponential(100 * BIDE_MILLISECOND);
 *     int64_t took = sim_dist_draw(&service, word);
 *
 * Each is the inverse of its distribution function, so a greater word is a
 * longer duration in all of them: replacing one distribution by another keeps
 * the luck. (A mixture draws from its parts: the word selects one, and then how
 * long.) The draw is never negative; very long ones are cut at 2^62 ns (146
 * years). */
#ifndef BIDE_SIM_MODEL_DIST_H
#define BIDE_SIM_MODEL_DIST_H

#include <stdint.h>

#include "sim/model/luck.h"
#include "sim/model/number.h"

enum sim_dist_kind {
    SIM_CONSTANT,
    SIM_EXPONENTIAL,
    SIM_NORMAL,    /* |N(mean, deviation)|: no duration is negative */
    SIM_LOGNORMAL, /* e^N(ln median, sigma) */
    SIM_PARETO,    /* least / U^(1 / alpha) */
    SIM_MIXTURE,   /* one of several others */
    SIM_EMPIRICAL, /* a histogram: evenly within each of its bars */
    SIM_PERCENTILES /* points of the distribution, and straight lines between
                     * them where both axes, duration and share that takes
                     * longer, are logarithmic */
};

struct sim_dist_part;

/* Threads: immutable. */
struct sim_dist {
    enum sim_dist_kind kind;
    double at_ns;  /* mean, median or least */
    double spread; /* deviation in ns, sigma or alpha */
    const struct sim_dist_part *parts; /* of the last three; they belong */
    uint32_t n_parts;                  /* to its creator */
};

/* A component of a mixture, one bar of a histogram, or a percentile. */
struct sim_dist_part {
    double share;       /* of the draws, over 0; all shares sum to 1. Percentiles:
                         * of those that take no longer than ... */
    struct sim_dist of; /* mixture: the distribution of this component */
    double from_ns;     /* ... this, over 0; both rise, the share stays under 1.
                         * Histogram: anything from ... */
    double upto_ns;     /* ... to, each equally likely; bars in rising order */
};

static inline struct sim_dist sim_constant(int64_t ns)
{
    return (struct sim_dist){ .kind = SIM_CONSTANT, .at_ns = (double)ns };
}

static inline struct sim_dist sim_exponential(double mean_ns)
{
    return (struct sim_dist){ .kind = SIM_EXPONENTIAL, .at_ns = mean_ns };
}

static inline struct sim_dist sim_normal(double mean_ns, double deviation_ns)
{
    return (struct sim_dist){ .kind = SIM_NORMAL, .at_ns = mean_ns,
                              .spread = deviation_ns };
}

static inline struct sim_dist sim_lognormal(double median_ns, double sigma)
{
    return (struct sim_dist){ .kind = SIM_LOGNORMAL, .at_ns = median_ns,
                              .spread = sigma };
}

static inline struct sim_dist sim_pareto(double least_ns, double alpha)
{
    return (struct sim_dist){ .kind = SIM_PARETO, .at_ns = least_ns,
                              .spread = alpha };
}

/* The parts are not copied, and must outlive the distribution. */
static inline struct sim_dist sim_mixture(const struct sim_dist_part *parts,
                                          uint32_t n)
{
    return (struct sim_dist){ .kind = SIM_MIXTURE, .parts = parts,
                              .n_parts = n };
}

static inline struct sim_dist sim_empirical(const struct sim_dist_part *parts,
                                            uint32_t n)
{
    return (struct sim_dist){ .kind = SIM_EMPIRICAL, .parts = parts,
                              .n_parts = n };
}

/* Below the first point, evenly from 0; no draw is over the last. */
static inline struct sim_dist sim_percentiles(const struct sim_dist_part *parts,
                                              uint32_t n)
{
    return (struct sim_dist){ .kind = SIM_PERCENTILES, .parts = parts,
                              .n_parts = n };
}

/* What sim_dist_draw() does for all but the plainest. */
int64_t sim_dist_draw_any(const struct sim_dist *d, uint64_t word);

static inline int64_t sim_dist_draw(const struct sim_dist *d, uint64_t word)
{
    if (d->kind == SIM_CONSTANT)
        return (int64_t)d->at_ns;
    if (d->kind != SIM_EXPONENTIAL)
        return sim_dist_draw_any(d, word);
    double x = -d->at_ns * sim_log(1 - sim_luck_unit(word)) + 0.5;
    return x < 0x1p62 ? (int64_t)x : INT64_C(1) << 62;
}

/* The mean, in ns; infinite for a Pareto distribution with alpha of 1 or less. */
double sim_dist_mean(const struct sim_dist *d);

#endif
