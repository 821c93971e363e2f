/* A fixed rate with bursts: the turns of limits.rate.
 *
 * Turns are one interval apart. The word holds the next one; a pause saves up
 * turns, as many as the burst allows. (The generic cell rate algorithm.)
 *
 *   next   the first turn that is not taken, plus (burst - 1) intervals: at
 *          `next` or later, a whole burst has been saved up
 *
 * So a turn may be used from next - (burst - 1) * interval on, and a turn that
 * is not now is reserved by whoever is told to wait for it. One word decides,
 * by compare-and-swap: of n threads, no two take the same turn, whatever the
 * order. Over any time t there are at most burst + t / interval turns.
 *
 * The interval is rounded up to a nanosecond, so the rate is never exceeded;
 * at the highest one, 10^6 a second, rounding takes less than 0.1 %. */
#ifndef BIDE_LIB_PACE_H
#define BIDE_LIB_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero at first: a whole burst is saved up. Threads: shared. */
struct bide__pace {
    _Atomic int64_t next;
};

/* Between turns, for a rate of 0 to 10^6 a second; 0 for a rate of 0. */
int64_t bide__pace_interval(double per_s);

/* Takes the next turn. `burst` is (burst - 1) intervals. *ret_at is when it may
 * be used: at or before `now` means at once. False if that is later than
 * `latest`: then nothing is taken, and *ret_at is when there will be one. */
bool bide__pace_take(struct bide__pace *pace, int64_t interval, int64_t burst,
                     int64_t now, int64_t latest, int64_t *ret_at);

/* Gives back a turn that will not be used, unless a later one was taken: a turn
 * in the middle cannot be given to anyone without two going at once. */
void bide__pace_give(struct bide__pace *pace, int64_t interval, int64_t burst,
                     int64_t at);

#endif
