/* The counters that every call touches, in several copies.
 *
 * Two threads that add to one cache line slow each other down tenfold. So the
 * counters that a successful call writes are kept in lanes, and a call uses the
 * lane of the processor that it began on; readers sum the lanes. Which lane is
 * used never changes a decision: sums do not depend on it. */
#ifndef BIDE_LIB_LANE_H
#define BIDE_LIB_LANE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/window.h"

enum { BIDE__CACHE_LINE = 64 };

struct bide__lane {
    _Alignas(64) _Atomic uint64_t first_successes;
    _Atomic int64_t running;       /* first attempts; counted only to hedge by
                                      quantile */
    struct bide__window succeeded; /* breaker: attempts in its closed time */
    struct bide__window failed;
    struct bide__window slow;
    struct bide__window deposits;  /* budget window */
    struct bide__window calls;     /* ceiling of hedges */
    struct bide__window requests;  /* adaptive throttle */
    struct bide__window accepts;
};

/* Sums one window over all lanes; `member` is its offset in a lane. */
uint64_t bide__lanes_sum(const struct bide__lane *lanes, uint32_t n,
                         size_t member, uint64_t tick, uint8_t era);

#endif
