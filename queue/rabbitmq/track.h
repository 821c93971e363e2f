/* queue/rabbitmq/track.h: messages with a key: in order, one at a time.
 *
 *     int status = tracks_turn(q);                // claims tracks, takes in what came
 *     if (status == 0)
 *         status = tracks_take(q, ret, &n, 4, 2); // up to 4, of which 2 failed before
 *
 * A key belongs to one of TRACKS tracks, and a track to one worker at a time, which
 * alone knows what may run. Track K is two quorum queues with a single active
 * consumer:
 *
 *   NAME.key.K        A: what producers put there, in its order
 *   NAME.key.K.held   B: what was put aside, each with its number in that order
 *
 * Whoever owns a track consumes both. What comes from A gets the next number. It
 * runs, from A, if nothing of its key is before it. A message that fails is
 * published to B with its number, confirmed, and only then acknowledged in A; so are
 * those behind it, in order, when they are in the way of other keys. A copy in B
 * that arrives replaces what it was made of. The invariants:
 *
 *   1. Of one key, all of B comes before all of A, and B is ordered by number.
 *   2. A message is in A, or in B, or dead, from when it was put until it is done.
 *   3. Two copies with one number are one message: the one with more deliveries counts.
 *
 * So a new owner reads all of B first (up to a mark that it publishes itself, and
 * that only the active consumer can get), and then A, and knows all that the former
 * one did. Why it stays in order: one consumer, in one queue, gets what the former
 * one held before anything else, and in the order in which that one got it; what one
 * channel publishes to one quorum queue survives a crash from its beginning on; so
 * if a message is in B, all of its key that were before it are in B as well, or done.
 * One that is in A and in B (the worker died between confirmation and
 * acknowledgement) is known by its id, and dropped from A. A number that comes behind
 * the mark and is not ours is from the former owner, who never saw it confirmed: A
 * has that message still, or had it when we began, and the copy is dropped.
 *
 * Never in parallel: a message that runs is on the list of its worker (hand.h)
 * before its handler starts. Who becomes the owner reads all lists then, and leaves
 * a track of which another worker runs something, until that has come back or was
 * rescued. The rescuer publishes a note to B, with how many ran beside it
 * (queue/blame.h).
 *
 * A message that waits lies in B. Its alarm goes through the delays (place.c), and
 * ends in B, too; there it stays until what it woke is done.
 *
 * Messages in B are held without their bodies: one that is to run is given back, and
 * so comes again. TRACK_MOST can be in B; after that, nothing of A runs: all of B,
 * with its alarms, must fit into what a consumer may hold (65535), or the mark would
 * not come. */
#ifndef BIDE_QUEUE_RABBITMQ_TRACK_H
#define BIDE_QUEUE_RABBITMQ_TRACK_H

#include "queue/rabbitmq/session.h"

enum { TRACK_WINDOW = 32, TRACK_MOST = 20000 };

/* Consumers of a track: their tags. */
enum { TRACK_FRESH = 1, TRACK_HELD };

/* A key's track. */
int track_of(const char *key);
uint64_t track_hash(const char *key);

/* The connection is a new one: nothing is ours. Also frees all. */
void tracks_forget(struct rmq *q);

/* Claims and leaves tracks by who lives, takes in what has come, puts aside, renews. */
int tracks_turn(struct rmq *q);

/* Those that may run, into ret[*n]..., in hand, up to `most` and of those `retries` that
 * failed before, if there are others. `alone`: one suspect, or none. */
int tracks_take(struct rmq *q, struct queue_message **ret, size_t *n, size_t most,
                size_t retries);
int tracks_take_suspect(struct rmq *q, struct queue_message **ret, size_t *n);

/* What is left for a next take: due and not held back; suspects among them. */
bool tracks_more(const struct rmq *q);
bool tracks_suspects(const struct rmq *q);

/* Has something come that nobody has looked at? */
bool tracks_rang(const struct rmq *q);

/* ===== the end of a delivery ===== */

/* Copies of what ends now have arrived: before anything else. */
int tracks_settle_begin(struct rmq *q, const struct rmq_hand *h);
/* The alarm of a message that will wait. *ret_wait: what it is known by. */
int track_alarm(struct rmq *q, const struct copy *c, int64_t delay_ns,
                uint64_t *ret_wait);
int track_publish_held(struct rmq *q, const struct copy *c);
/* It was acknowledged. `again`: its copy is on its way. */
int tracks_settled(struct rmq *q, const struct rmq_hand *h, bool again, uint64_t wait);

/* ===== others ===== */

/* A worker died with this line of its list, and so many beside it. */
int track_note(struct rmq *q, const char *key, const char *line, size_t len,
               size_t running);

struct track_counts {
    size_t waiting, held;
};
struct track_counts tracks_count(struct rmq *q);

/* ===== between the files ===== */

/* Claims and leaves. */
int tracks_balance(struct rmq *q);
/* Waits for what the server has sent so far, and takes it in. */
int tracks_sync(struct rmq *q);

struct track_entry *track_find(struct track *t, uint64_t seq);
/* NULL: no memory. */
struct track_entry *track_add(struct track *t, uint64_t seq);
void track_clear(struct track *t);
void track_heads(struct track *t);
/* May it run, once it has a body? */
static inline bool track_may_run(const struct track_entry *e)
{
    return e->head && e->due && !e->runs && !e->gone && !e->beside && e->named;
}

#endif
