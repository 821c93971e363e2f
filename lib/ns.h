/* Nanosecond arithmetic that saturates, and the slicing of time into ticks.
 *
 * Durations and points in time are int64_t and never negative. A sum that does
 * not fit is BIDE_FOREVER; nothing wraps, whatever a caller or a server
 * sends. */
#ifndef BIDE_LIB_NS_H
#define BIDE_LIB_NS_H

#include <stdint.h>

#include "bide/backoff.h"

/* a + b for a, b >= 0. */
static inline int64_t bide__add_ns(int64_t a, int64_t b)
{
    return a > BIDE_FOREVER - b ? BIDE_FOREVER : a + b;
}

/* How long from `since` to `now`; 0 if the clock stepped back. */
static inline int64_t bide__elapsed_ns(int64_t since, int64_t now)
{
    return now > since ? now - since : 0;
}

/* A clock before its own zero is a clock at zero. */
static inline int64_t bide__clock(int64_t now)
{
    return now < 0 ? 0 : now;
}

/* ns * ratio, for ratio >= 0; saturates, and NaN gives 0. */
int64_t bide__scale_ns(int64_t ns, double ratio);

/* ns * n, for ns >= 0; saturates. */
int64_t bide__times_ns(int64_t ns, uint64_t n);

/* min(cap, base * factor^n) for factor >= 1, in O(log n) multiplications, the
 * same bits on every machine: no libm is involved. */
int64_t bide__grow_ns(int64_t base, double factor, uint32_t n, int64_t cap);

/* Divides time into ticks of one length. A 64-bit division costs more than the
 * rest of a counter's update, so the tick is a multiplication by the
 * reciprocal: exact at multiples of the length from 0, never late, and early by
 * at most length / 2^64 of the time since 0 (for 1 s, 54 parts in 10^12), which
 * only shifts the end of a tick. */
struct bide__ticker {
    uint64_t reciprocal; /* 2^64 / length, rounded up */
};

struct bide__ticker bide__ticker(int64_t length_ns);

static inline uint64_t bide__mulhi(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)a * b) >> 64);
#else
    uint64_t al = a & 0xffffffff, ah = a >> 32;
    uint64_t bl = b & 0xffffffff, bh = b >> 32;
    uint64_t mid = ah * bl + ((al * bl) >> 32);
    uint64_t low = al * bh + (mid & 0xffffffff);
    return ah * bh + (mid >> 32) + (low >> 32);
#endif
}

static inline uint64_t bide__tick(struct bide__ticker t, int64_t now)
{
    return bide__mulhi((uint64_t)now, t.reciprocal);
}

#endif
