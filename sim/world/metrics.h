/* The statistics of one caller: totals and latencies.
 *
 * Counted outside the engine, so that the engine's own counts (bide_dep_stats)
 * can be checked against them. There are only totals: what happened when is the
 * difference between two moments (record.h), and costs the calls nothing.
 * Threads: owned. */
#ifndef BIDE_SIM_WORLD_METRICS_H
#define BIDE_SIM_WORLD_METRICS_H

#include "sim/world/result.h"

struct sim_metrics {
    struct sim_caller_totals total;
    struct sim_histogram latency; /* of successful calls, including waits */
    struct sim_histogram wait;    /* before retries, as decided */
    uint64_t in_progress;         /* calls now */
    uint64_t waiting;             /* of those, in backoff */
};

/* Resets the totals and latencies, at the end of the warm-up. */
void sim_metrics_restart(struct sim_metrics *m);

/* Attempts that reached the service, per call; 0 before the first. */
double sim_metrics_amplification(const struct sim_metrics *m);

#endif
