/* A histogram of durations, to within 0.4 %, and the exact mean. The engine's
 * own (lib/latency.h) is coarser, because it must be small; this one has to
 * verify a quantile. Threads: owned. */
#ifndef BIDE_SIM_WORLD_HISTOGRAM_H
#define BIDE_SIM_WORLD_HISTOGRAM_H

#include <stdint.h>

enum { SIM_FINE = 7, SIM_BUCKETS = (64 - SIM_FINE) << SIM_FINE };

struct sim_histogram {
    uint64_t count;
    double sum_ns;
    uint64_t bucket[SIM_BUCKETS];
};

void sim_histogram_add(struct sim_histogram *h, int64_t ns);

/* Where bucket i begins, in ns. */
double sim_histogram_from(unsigned i);

/* In ns; 0 if there is nothing in it. */
double sim_histogram_mean(const struct sim_histogram *h);
double sim_histogram_quantile(const struct sim_histogram *h, double q);

#endif
