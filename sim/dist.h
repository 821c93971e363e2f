/* Distributions of durations: one random word in, one duration out.
 *
 *     struct sim_dist service = sim_exponential(100 * BIDE_MILLISECOND);
 *     int64_t took = sim_dist_draw(&service, word);
 *
 * Each is the inverse of its distribution function, so a greater word is a longer
 * duration in all of them: replacing one distribution by another keeps the luck.
 * The draw never is negative; the very long are cut at 2^62 ns (146 years). */
#ifndef BIDE_SIM_DIST_H
#define BIDE_SIM_DIST_H

#include <stdint.h>

enum sim_dist_kind {
    SIM_CONSTANT,
    SIM_EXPONENTIAL,
    SIM_NORMAL,    /* |N(mean, deviation)|: no duration is negative */
    SIM_LOGNORMAL, /* e^N(ln median, sigma) */
    SIM_PARETO     /* least / U^(1 / alpha) */
};

/* Threads: immutable. */
struct sim_dist {
    enum sim_dist_kind kind;
    double at_ns;  /* mean, median or least */
    double spread; /* deviation in ns, sigma or alpha */
};

static inline struct sim_dist sim_constant(int64_t ns)
{
    return (struct sim_dist){ SIM_CONSTANT, (double)ns, 0 };
}

static inline struct sim_dist sim_exponential(double mean_ns)
{
    return (struct sim_dist){ SIM_EXPONENTIAL, mean_ns, 0 };
}

static inline struct sim_dist sim_normal(double mean_ns, double deviation_ns)
{
    return (struct sim_dist){ SIM_NORMAL, mean_ns, deviation_ns };
}

static inline struct sim_dist sim_lognormal(double median_ns, double sigma)
{
    return (struct sim_dist){ SIM_LOGNORMAL, median_ns, sigma };
}

static inline struct sim_dist sim_pareto(double least_ns, double alpha)
{
    return (struct sim_dist){ SIM_PARETO, least_ns, alpha };
}

int64_t sim_dist_draw(const struct sim_dist *d, uint64_t word);

#endif
