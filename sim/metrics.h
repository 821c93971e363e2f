/* What came of the calls: totals, latencies, and a row for each second.
 *
 * Counted by the caller, from outside the engine, so that what the engine counts
 * (bide_dep_stats) can be held against it. Threads: owned. */
#ifndef BIDE_SIM_METRICS_H
#define BIDE_SIM_METRICS_H

#include "bide/call.h"
#include "histogram.h"

/* What happened within one second of virtual time. */
struct sim_second {
    uint32_t calls;     /* begun */
    uint32_t attempts;  /* begun: the offered load */
    uint32_t successes; /* calls that ended so: the goodput */
    uint32_t failures;  /* calls that ended otherwise */
};

struct sim_metrics {
    uint64_t calls, attempts, successes, failures;
    uint64_t timeouts;             /* attempts that were given up */
    uint64_t done[BIDE_N_REASONS]; /* calls by the reason of their end */
    struct sim_histogram latency;  /* of calls that succeeded, waits included */
    struct sim_second *seconds;
    uint32_t n_seconds, room;
};

void sim_metrics_done(struct sim_metrics *m);

/* Forgets the totals and latencies so far, but not the seconds: what comes
 * before is the warming up. */
void sim_metrics_restart(struct sim_metrics *m);

/* The row of the second that `now_ns` lies in. */
struct sim_second *sim_metrics_second(struct sim_metrics *m, int64_t now_ns);

/* Attempts per call; 0 before the first. */
double sim_metrics_amplification(const struct sim_metrics *m);

/* The share of calls that succeeded of those that ended in [from_s, to_s). */
double sim_metrics_success(const struct sim_metrics *m, uint32_t from_s,
                           uint32_t to_s);

#endif
