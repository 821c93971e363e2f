/* Latency: a histogram over a sliding window, and quantiles from it.
 *
 * Buckets are log-linear: 64 per doubling, so a bucket is at most 1/64 wide,
 * and no point of it more than 1.6 % from any other. From 16 us to 68 s; below
 * that, buckets of 256 ns; above, the last. A quantile is interpolated within
 * its bucket: an error of 1 % in the delay of a hedge is 3 % in the load it
 * adds.
 *
 * The window is two slices in each lane, so it covers between half of its
 * length and all of it. The first thread to record in a new slice of time takes
 * over the older one, and adds its content to the totals: nothing that was
 * recorded is ever lost, although some of it may leave the window a little
 * early.
 *
 * Latency is recorded for first attempts that succeeded, and, for those that a
 * hedge overtook, how long they had run by then. Without the latter, slow
 * attempts would vanish from the measurement just because hedging works, and
 * the quantile that triggers hedges would creep down. */
#ifndef BIDE_LIB_LATENCY_H
#define BIDE_LIB_LATENCY_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/histogram.h"
#include "lib/policy.h"

enum { BIDE__FINE = 64 * 23, BIDE__SLICES = 2 };

struct bide__slice {
    _Atomic uint64_t tick;
    _Atomic uint32_t bucket[BIDE__FINE];
};

struct bide__latency {
    _Alignas(64) struct bide__slice slice[BIDE__SLICES];
};

enum { BIDE__FINE_BITS = 6, BIDE__FINE_UNIT_BITS = 8 };

/* The bucket of a duration, and the middle of a bucket. */
static inline unsigned bide__fine_bucket(int64_t ns)
{
    uint64_t units = (uint64_t)ns >> BIDE__FINE_UNIT_BITS;
    if (units < 1u << BIDE__FINE_BITS)
        return (unsigned)units;
    unsigned log2 = 63u - (unsigned)__builtin_clzll(units);
    unsigned shift = log2 - BIDE__FINE_BITS;
    unsigned i = (shift << BIDE__FINE_BITS) + (unsigned)(units >> shift);
    return i < BIDE__FINE ? i : BIDE__FINE - 1;
}

int64_t bide__fine_middle(unsigned bucket);

/* Takes over a slice for `tick`, and adds its content to `totals`. */
void bide__latency_turn(struct bide__slice *slice, uint64_t tick,
                        struct bide__histogram *totals);

/* The slice to record in. */
static inline struct bide__slice *
bide__latency_slice(struct bide__latency *lane, const struct bide__policy *p,
                    struct bide__histogram *totals, int64_t now)
{
    uint64_t tick = bide__tick(p->latency_ticks, now);
    struct bide__slice *slice = &lane->slice[tick % BIDE__SLICES];
    if (atomic_load_explicit(&slice->tick, memory_order_relaxed) < tick)
        bide__latency_turn(slice, tick, totals);
    return slice;
}

static inline void bide__latency_record(struct bide__slice *slice, int64_t ns)
{
    atomic_fetch_add_explicit(&slice->bucket[bide__fine_bucket(ns)], 1,
                              memory_order_relaxed);
}

/* The latency at quantile q over the window of all lanes, and the number of
 * samples behind it. `slower` attempts count as slower than all of those. -1 if
 * there are no samples, or the quantile falls among the slower ones. */
int64_t bide__latency_quantile(const struct bide__latency *lanes,
                               const struct bide__policy *p, double q,
                               uint64_t slower, int64_t now,
                               uint64_t *ret_samples);

/* Adds everything in the lanes, within the window or not, to a histogram. */
void bide__latency_add_to(const struct bide__latency *lanes, uint32_t n_lanes,
                          bide_histogram *h);

#endif
