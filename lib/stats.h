/* The counters behind bide_stats, except those in the lanes. */
#ifndef BIDE_LIB_STATS_H
#define BIDE_LIB_STATS_H

#include <stdatomic.h>
#include <stdint.h>

#include "bide/stats.h"
#include "lib/histogram.h"

struct bide__counters {
    _Atomic uint64_t by_class[BIDE_N_CLASSES]; /* first successes left out */
    _Atomic uint64_t done[BIDE_N_REASONS];     /* likewise */
    _Atomic uint64_t retries_by_class[BIDE_N_CLASSES];
    _Atomic uint64_t retries_by_reason[BIDE_N_REASONS];
    _Atomic uint64_t unreached;
    _Atomic uint64_t retries_dropped;
    _Atomic uint64_t hedges;
    _Atomic uint64_t hedges_won;
    _Atomic uint64_t hedges_refused;

    struct bide__histogram wait_computed;
    struct bide__histogram wait_jittered;
    struct bide__histogram wait_slept;
    struct bide__histogram first_time;    /* of the lanes' slices, when past */
    struct bide__histogram overtaken;     /* in those, but not successes */
    struct bide__histogram late_attempt_time;
    struct bide__histogram late_call_time;
};

static inline void bide__count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

#endif
