/* What came of the calls of one caller: totals and latencies.
 *
 * Counted from outside the engine, so that what the engine counts
 * (bide_dep_stats) can be held against it. There are only totals: what happened
 * when is the difference between two moments (record.h), and costs the calls
 * nothing. Threads: owned. */
#ifndef BIDE_SIM_WORLD_METRICS_H
#define BIDE_SIM_WORLD_METRICS_H

#include "sim/world/result.h"

struct sim_metrics {
    struct sim_caller_totals total;
    struct sim_histogram latency; /* of calls that succeeded, waits included */
    struct sim_histogram wait;    /* before retries, as decided */
    uint64_t in_progress;         /* calls now */
    uint64_t waiting;             /* of those, in backoff */
};

/* Forgets the totals and latencies so far: what came before is the warming up. */
void sim_metrics_restart(struct sim_metrics *m);

/* Attempts per call; 0 before the first. */
double sim_metrics_amplification(const struct sim_metrics *m);

#endif
