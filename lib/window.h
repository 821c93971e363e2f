/* A count of events over a sliding window, kept by any number of threads.
 *
 * The window is a ring of 16 slots, one for each tick. A slot is a single word
 * that holds which tick it counts for beside the count, so recycling a slot for
 * a new tick and counting the first event there is one compare-and-swap, and no
 * thread is ever needed to rotate the ring. An event that is counted just as
 * its slot is recycled lands in the newer tick: it is never lost, and never
 * counted twice.
 *
 *   slot = era (8 bits) | tick (28 bits) | count (28 bits)
 *
 * The era separates what must not be summed although the times touch: the
 * breaker passes its generation, so that a breaker that closes starts from
 * zero.
 *
 * The newest slot is still filling, so a sum covers between 15/16 of the window
 * and all of it: for a budget, never too much. */
#ifndef BIDE_LIB_WINDOW_H
#define BIDE_LIB_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { BIDE__SLOTS = 16, BIDE__COUNT_BITS = 28, BIDE__TICK_BITS = 28 };

#define BIDE__COUNT_MAX ((UINT64_C(1) << BIDE__COUNT_BITS) - 1)
#define BIDE__TICK_MASK ((UINT64_C(1) << BIDE__TICK_BITS) - 1)

struct bide__window {
    _Atomic uint64_t slot[BIDE__SLOTS];
};

static inline uint64_t bide__window_tag(uint64_t tick, uint8_t era)
{
    return (uint64_t)era << BIDE__TICK_BITS | (tick & BIDE__TICK_MASK);
}

/* Counts into a slot that belongs to another tick, or to none. */
void bide__window_turn(_Atomic uint64_t *slot, uint64_t tag);

/* Counts one event. */
static inline void bide__window_add(struct bide__window *w, uint64_t tick,
                                    uint8_t era)
{
    _Atomic uint64_t *slot = &w->slot[tick % BIDE__SLOTS];
    uint64_t tag = bide__window_tag(tick, era);
    uint64_t seen = atomic_load_explicit(slot, memory_order_relaxed);
    if (seen >> BIDE__COUNT_BITS != tag)
        bide__window_turn(slot, tag);
    else if ((seen & BIDE__COUNT_MAX) < BIDE__COUNT_MAX / 2)
        atomic_fetch_add_explicit(slot, 1, memory_order_relaxed);
}

/* Uncounts one event of that tick, if the window still has any of it. */
void bide__window_take_back(struct bide__window *w, uint64_t tick, uint8_t era);

/* Puts `count` events, at most BIDE__COUNT_MAX / 2, into a window that nobody
 * uses yet. */
void bide__window_start(struct bide__window *w, uint64_t tick, uint8_t era,
                        uint64_t count);

/* Sums the window that ends with `tick`. */
uint64_t bide__window_sum(const struct bide__window *w, uint64_t tick,
                          uint8_t era);

#endif
