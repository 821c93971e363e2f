/* A hierarchical timer wheel: a million timers, each set and cancelled in
 * O(1).
 *
 *     struct bide__wheel wheel;
 *     bide__wheel_init(&wheel, now, BIDE_MILLISECOND);
 *     bide__wheel_set(&wheel, &call->timer, at_ns);
 *     ...
 *     int64_t next = bide__wheel_next(&wheel);         // sleep until then
 *     struct bide__timer *t;
 *     while ((t = bide__wheel_expired(&wheel, now)))   // each once, by time
 *         ...
 *
 * Eleven levels of 64 slots, which is all 64 bits of a tick. A timer lies on
 * the level of the highest digit (base 64) in which its tick differs from now,
 * and is moved down when that digit comes round: at most ten times in its
 * life, and mostly not at all. A bit for each slot that holds anything finds
 * the next one without walking. Timers are the user's memory, 40 bytes at
 * most; the wheel itself takes 11 KB. It reads no clock.
 *
 * A timer never expires early; it is late by at most one tick (the resolution).
 * Timers expire in the order of their ticks. Threads: owned. */
#ifndef BIDE_RUN_WHEEL_H
#define BIDE_RUN_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct bide__timer {
    struct bide__list slot; /* of which slot it is in the list */
    int64_t at_ns;
};

enum { BIDE__WHEEL_LEVELS = 11, BIDE__WHEEL_SLOTS = 64 };

struct bide__wheel {
    uint64_t tick;            /* everything before it has expired */
    int64_t resolution_ns;
    size_t n;
    uint64_t busy[BIDE__WHEEL_LEVELS]; /* a bit for each slot in use */
    struct bide__list slot[BIDE__WHEEL_LEVELS][BIDE__WHEEL_SLOTS];
    struct bide__list due;    /* expired, to be handed out */
};

void bide__wheel_init(struct bide__wheel *w, int64_t now_ns,
                      int64_t resolution_ns);

/* Sets a timer that is not set, or moves one that is. BIDE_FOREVER: cancels. */
void bide__wheel_set(struct bide__wheel *w, struct bide__timer *t,
                     int64_t at_ns);
void bide__wheel_cancel(struct bide__wheel *w, struct bide__timer *t);

static inline bool bide__timer_is_set(const struct bide__timer *t)
{
    return bide__list_has(&t->slot);
}

/* A time not after the first timer's expiry, at which to ask again; FOREVER if
 * there is none. Never so early that asking in a loop would spin. */
int64_t bide__wheel_next(const struct bide__wheel *w);

/* Removes and returns one expired timer; NULL if there is none left. */
struct bide__timer *bide__wheel_expired(struct bide__wheel *w, int64_t now_ns);

#endif
