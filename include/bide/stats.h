/* bide/stats.h: the statistics of a dependency.
 *
 *     bide_stats s;
 *     bide_dep_stats(dep, now, &s);
 *     printf("%.2f attempts per call\n", bide_stats_amplification(&s));
 *     for (int r = 0; r < BIDE_N_REASONS; r++)
 *         if (s.done[r])
 *             printf("%s %" PRIu64 "\n", bide_reason_name(r), s.done[r]);
 *
 * Counters never decrease. A snapshot is taken without stopping any thread, so
 * two of its numbers may be a few events apart. */
#ifndef BIDE_STATS_H
#define BIDE_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "call.h"
#include "dep.h"

BIDE_BEGIN_DECLS

/* A histogram of durations: bucket i holds those from bide_bucket_ns(i) to under
 * bide_bucket_ns(i + 1). */
#define BIDE_N_BUCKETS 128

typedef struct bide_histogram {
    uint64_t count;
    uint64_t sum_ns; /* to within half a bucket's width per sample */
    uint64_t bucket[BIDE_N_BUCKETS];
} bide_histogram;

/* Room for the classes and reasons of later versions. */
#define BIDE_MAX_CLASSES 16
#define BIDE_MAX_REASONS 64

/* Threads: owned. */
typedef struct bide_stats {
    uint64_t calls;           /* finished */
    uint64_t first_successes; /* calls that succeeded at the first attempt */
    uint64_t late_successes;  /* calls that succeeded after retries or hedges */
    uint64_t failures;        /* all other finished calls */
    uint64_t attempts;        /* finished, with any outcome */
    uint64_t by_class[BIDE_MAX_CLASSES]; /* attempts by outcome */
    uint64_t done[BIDE_MAX_REASONS];     /* calls by the reason of their end */
    uint64_t retries;
    uint64_t retries_by_class[BIDE_MAX_CLASSES];  /* of the failure before it */
    uint64_t retries_by_reason[BIDE_MAX_REASONS]; /* backoff, hint, immediate */
    uint64_t retries_dropped; /* granted, but the call ended during the wait */
    uint64_t hedges;          /* sent */
    uint64_t hedges_won;
    uint64_t hedges_refused;  /* due, but no budget, load or place for them */
    uint64_t unreached;       /* attempts that reached nobody, or a server that
                                 did not begin with them, and for which another
                                 was made: not among `attempts` */
    uint64_t late_reports;    /* results from an earlier state of the breaker */

    bide_breaker_state breaker;
    uint64_t breaker_to[3];   /* transitions into each state */
    uint64_t breaker_trips;   /* of those, from closed to open: failed probes
                                 that open it again do not count */
    int64_t budget_left;      /* as bide_dep_budget_left() */
    double rate;              /* as bide_dep_rate() */
    uint64_t in_flight;       /* attempts, if limits.in_flight is set */
    uint64_t queued;          /* calls waiting for a place */
    uint32_t in_flight_limit; /* as bide_dep_in_flight_limit() */
    bool retries_on;          /* as bide_dep_retries() */

    bide_histogram wait_computed; /* waits of retries: before jitter, ... */
    bide_histogram wait_jittered; /* ... as requested, ... */
    bide_histogram wait_slept;    /* ... and actual */
    bide_histogram attempt_time;  /* of attempts that succeeded */
    bide_histogram call_time;     /* of calls that succeeded, including waits */
} bide_stats;

/* Counts a response that broke off after its call had been decided, and part of
 * it passed on: it is added to done[BIDE_BECAUSE_CUT_SHORT], beside the reason
 * for which the call ended, but neither to calls nor to failures. */
BIDE_API void bide_dep_cut_short(bide_dep *dep);

/* Takes a snapshot. BIDE_EINVAL. */
BIDE_API int bide_dep_stats_sized(const bide_dep *dep, int64_t now_ns,
                                  bide_stats *ret, size_t size);
static inline int bide_dep_stats(const bide_dep *dep, int64_t now_ns,
                                 bide_stats *ret)
{
    return bide_dep_stats_sized(dep, now_ns, ret, sizeof *ret);
}

/* Attempts per call; 0 before the first. */
BIDE_API double bide_stats_amplification(const bide_stats *stats);

/* The lower end of bucket i, 0 <= i <= BIDE_N_BUCKETS. */
BIDE_API int64_t bide_bucket_ns(unsigned i);

/* The value at quantile q of a histogram, to within its bucket; -1 if empty. */
BIDE_API int64_t bide_histogram_quantile(const bide_histogram *h, double q);

BIDE_END_DECLS
#endif
