/* queue/ahead.h: how many messages to take before a handler is free for them, and how
 * many ends to wait for before they are settled.
 *
 *     struct queue_ahead a = { 0 };
 *     queue_ahead_note(&a, took_ns);               // a handler has ended
 *     queue_ahead_turn(&a, took_ns);               // a turn with the broker has
 *     uint32_t n = queue_ahead_room(&a, 16, 112);
 *     int64_t wait_ns = queue_ahead_gather(&a, 16, 127);
 *
 * A turn with the broker costs a commit, whether it takes one message or a hundred;
 * handlers of microseconds would spend their time waiting for it. But a message
 * that was taken cannot run anywhere else: before a handler that works for an hour
 * it would wait for an hour, while another worker has nothing to do.
 *
 * Invariant: what waits here is at most QUEUE_AHEAD of work, by how long handlers
 * usually take; nothing, while that is not known. */
#ifndef BIDE_QUEUE_AHEAD_H
#define BIDE_QUEUE_AHEAD_H

#include <stdint.h>

#define QUEUE_AHEAD INT64_C(20000000) /* of work: 20 ms */

/* Nothing has ended for so long: what waits is given back. */
#define QUEUE_AHEAD_STALE INT64_C(1000000000)

/* All zero: nothing is known. Threads: owned. */
struct queue_ahead {
    int64_t usual_ns; /* that a handler takes, and 1 */
    int64_t turn_ns;  /* that a turn with the broker takes */
};

static inline void queue_ahead_note(struct queue_ahead *a, int64_t took_ns)
{
    int64_t took = (took_ns > 0 ? took_ns : 0) + 1;

    a->usual_ns = a->usual_ns ? a->usual_ns + (took - a->usual_ns) / 8 : took;
    if (a->usual_ns < 1)
        a->usual_ns = 1;
}

/* A turn in which something was settled or taken. One that waited for a broker to come
 * back says nothing about the next. */
static inline void queue_ahead_turn(struct queue_ahead *a, int64_t took_ns)
{
    if (took_ns > QUEUE_AHEAD)
        took_ns = QUEUE_AHEAD;
    a->turn_ns = a->turn_ns ? a->turn_ns + (took_ns - a->turn_ns) / 8 : took_ns;
}

static inline uint32_t queue_ahead_room(const struct queue_ahead *a,
                                        uint32_t at_once, uint32_t most)
{
    int64_t n = a->usual_ns ? at_once * QUEUE_AHEAD / a->usual_ns : 0;

    return n < (int64_t)most ? (uint32_t)n : most;
}

/* How long to wait for the others when the first of a batch has ended, so that one turn
 * settles them all: half of what a turn takes, if they should have ended by then;
 * otherwise not at all. */
static inline int64_t queue_ahead_gather(const struct queue_ahead *a,
                                         uint32_t at_once, uint32_t running)
{
    int64_t most = a->turn_ns / 2;

    return running > 0 && a->usual_ns <= most / (1 + running / at_once) ? most : 0;
}

#endif
