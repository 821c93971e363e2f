/* Spending over a sliding window, never more than a limit.
 *
 *   total  what was spent and has not expired: the one word that decides
 *   slot   what each tick contributed to it: tick (36 bits) | count (28 bits)
 *
 * To spend is a compare-and-swap on `total` while it is under the limit, then a
 * note in the slot of the tick. When a slot has left the window, the thread
 * that empties it subtracts its count from the total. A unit is thus added to
 * the total before anything else and subtracted only after its note was
 * removed, once: the total is never lower than what is really outstanding, so
 * no interleaving of threads can overspend (test/spin/spend.pml checks this). A
 * note that arrives late is filed under a newer tick and expires later, which
 * is the safe side.
 *
 * 64 slots, 63 of which make up a window: a spent unit counts for at least the
 * window, and at most 1/63 longer. */
#ifndef BIDE_LIB_BUDGET_SPEND_H
#define BIDE_LIB_BUDGET_SPEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { BIDE__SPEND_SLOTS = 64 };

struct bide__spend {
    _Atomic int64_t total;
    _Atomic uint64_t expired_to; /* slots up to this tick have been looked at */
    _Atomic uint64_t slot[BIDE__SPEND_SLOTS];
};

/* The length of a tick for a window. */
static inline int64_t bide__spend_tick_ns(int64_t window_ns)
{
    return window_ns / (BIDE__SPEND_SLOTS - 1) + 1;
}

/* Takes one unit if fewer than `limit` are outstanding. *ret_tick is for
 * bide__spend_give(). */
bool bide__spend_take(struct bide__spend *s, uint64_t tick, int64_t limit,
                      uint64_t *ret_tick);

/* Returns an unused unit; does nothing if it has expired. */
void bide__spend_give(struct bide__spend *s, uint64_t tick);

/* Recomputes the total from the slots: a process that died in between is
 * gone. */
void bide__spend_recount(struct bide__spend *s);

/* Begins with `n` units outstanding; nobody uses it yet. */
void bide__spend_start(struct bide__spend *s, uint64_t tick, int64_t n);

/* What is outstanding at `tick`. */
int64_t bide__spend_outstanding(const struct bide__spend *s, uint64_t tick);

#endif
