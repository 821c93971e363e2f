/* queue/ahead.h: how many messages to take before a handler is free for them.
 *
 *     struct queue_ahead a = { 0 };
 *     queue_ahead_note(&a, took_ns);               // a handler has ended
 *     uint32_t n = queue_ahead_room(&a, 16, 112);
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
};

static inline void queue_ahead_note(struct queue_ahead *a, int64_t took_ns)
{
    int64_t took = (took_ns > 0 ? took_ns : 0) + 1;

    a->usual_ns = a->usual_ns ? a->usual_ns + (took - a->usual_ns) / 8 : took;
    if (a->usual_ns < 1)
        a->usual_ns = 1;
}

static inline uint32_t queue_ahead_room(const struct queue_ahead *a,
                                        uint32_t at_once, uint32_t most)
{
    int64_t n = a->usual_ns ? at_once * QUEUE_AHEAD / a->usual_ns : 0;

    return n < (int64_t)most ? (uint32_t)n : most;
}

#endif
