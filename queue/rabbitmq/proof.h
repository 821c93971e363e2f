/* queue/rabbitmq/proof.h: what runs of the tracks, where, and that they are ours (track.h:
 * "Never in parallel").
 *
 *     status = proof_say(q);      // notes of what runs here, and marks: to be confirmed
 *     ...                         // what comes into B: proof_got_run(), proof_got_mark()
 *     status = proof_wait(q);     // what was handed out may start now
 *     status = proof_sweep(q, t); // notes that have had their time, ours or others'
 *
 * Invariants: a note of ours is acknowledged only when its message is no longer in hand,
 * or when a newer one has come back; one of another worker only when a full lease has
 * passed since we saw it first. All times are of queue/hold_clock.h. */
#ifndef BIDE_QUEUE_RABBITMQ_PROOF_H
#define BIDE_QUEUE_RABBITMQ_PROOF_H

#include "queue/rabbitmq/session.h"

/* A note in B. Threads: owned. */
struct track_run {
    uint64_t token, sent_ns;   /* the delivery, and when it was said: its identity */
    uint64_t tag;              /* 0: given back, and on its way to us again */
    int64_t came_ns;           /* when that came, on bide_now_ns() */
    int64_t first_ns;          /* when we saw it first; of others */
    int64_t lease_ns;          /* of who said it */
    uint64_t hash;             /* of its key */
    bool mine;
    char *text;                /* as a rescuer's note (track.h) */
};

/* Frees what a track has. */
void proof_clear(struct track *t);

/* ===== what we say ===== */

int proof_say(struct rmq *q);
/* Until what was handed out has been said, and that is proven. */
int proof_wait(struct rmq *q);
/* Puts off the end of what runs, if that is possible and is time. */
int proof_beat(struct rmq *q);
/* A mark, of now: *ret_mark is what it is known by. */
int proof_mark(struct rmq *q, int track, int64_t *ret_mark);
/* It was settled: what was said of it goes. */
int proof_end(struct rmq *q, struct track *t, uint64_t token);

/* ===== what comes ===== */

int proof_got_run(struct rmq *q, struct track *t, const struct wire_in *in);
int proof_got_mark(struct rmq *q, struct track *t, const struct wire_in *in);
int proof_sweep(struct rmq *q, struct track *t);

/* Calls fn with the keys that must not run now. */
void proof_closed(const struct rmq *q, const struct track *t,
                  void (*fn)(void *arg, uint64_t hash), void *arg);

/* Has all that we said come back, and gone? */
bool proof_is_quiet(const struct track *t);

/* Should the track be left to a worker that may come back for it? */
bool proof_is_awaited(const struct rmq *q, const struct track *t);
int64_t proof_look_ns(const struct rmq *q); /* and looked at again after so long */

/* The connection, or the channel, is gone: nothing is proven by it any more. */
void proof_detach(struct rmq *q, int track);

/* Whether it is too late for a delivery to come back. */
bool proof_is_over(const struct rmq_hand *h);

#endif
