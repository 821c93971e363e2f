/* store/clock.h: the time of a store that has no server: the machine's, made such
 * that it never goes back, whatever happens to the machine's clock.
 *
 *     struct bide__store_clock clock;
 *     bide__store_clock_init(&clock, &setup, last_ns);   // as the file has it
 *     int64_t now = bide__store_clock_now(&clock, last_ns);
 *
 * The wall clock is read once, when the store is opened; from then on time passes
 * as it does since boot (sleep included). What the store has seen last is a lower
 * bound for both. So a wall clock that is set back, or forward, while the program
 * runs ends no lease and keeps none for ever. */
#ifndef BIDE_STORE_CLOCK_H
#define BIDE_STORE_CLOCK_H

#include <stdint.h>

#include "store/kind.h"

/* Threads: owned. */
struct bide__store_clock {
    int64_t (*now_ns)(void *ctx); /* of tests; NULL: the machine's */
    void *ctx;
    int64_t ahead_ns; /* of the clock since boot */
};

/* last_ns: the latest time that the store has seen; 0: none. */
void bide__store_clock_init(struct bide__store_clock *clock,
                            const struct bide__store_setup *setup,
                            int64_t last_ns);

/* Returns the store's time, in ns since 1970, not before last_ns. */
int64_t bide__store_clock_now(struct bide__store_clock *clock, int64_t last_ns);

#endif
