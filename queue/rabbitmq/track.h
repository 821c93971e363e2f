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
 * Never in parallel. What of a track runs is said in B as well, because B is the one
 * place that decides whose the track is: what one has published there, and gets back
 * through one's consumer, was published while one was the owner, and whoever is the
 * owner later reads it before the mark. The clock is one that goes on while a machine
 * sleeps; L is the lease (30 s).
 *
 *   1. Before a handler starts, its owner publishes a run note to B (who, which delivery,
 *      when), and waits until that has come back to it, for the first time. It keeps the
 *      note until the message is settled. A note that had been with somebody else before
 *      proves nothing; nor does such a mark.
 *   2. While something of a track runs, its owner publishes a mark there every L/6. When
 *      that comes back, the track was its own when that mark was sent. So was it when a
 *      run note was sent that came back. The latest of these times is the track's proof.
 *   3. A handler is asked to stop 2/3 L after the proof, and ended 5/6 L after it
 *      (queue/hold.h: a thread that waits for no server); nothing starts later than that.
 *      Its message goes back without a count.
 *   4. A new owner that finds the run note of another worker does not start its key, nor
 *      the message, for a full L after it has first seen that note (proof.h); the note
 *      says what L is, if that is longer. Then the handler is gone: the former owner had
 *      its last proof before the new one could read anything, so it ended 5/6 L after that
 *      at the latest. L/6 is for ending.
 *   5. Whoever comes back to a track with handlers that still run (the server was away,
 *      the network was cut) says so with new notes, and only their return is a proof. So
 *      a note is known by its time, and the wait of whoever has seen the old one begins
 *      again with the new one. A key stays closed while what runs of it here has not been
 *      found again in the track.
 *   6. To let it come back, a new owner leaves a track with a note of another worker
 *      again, and looks every L/12, for L/3 after it has first seen that note. After
 *      that it keeps the track, and only the keys of the notes wait.
 *
 * Why (1) cannot fail: a queue has one order. The note N of X comes back to X, so X was
 * the active consumer at that place of the order. If Y is it later, the server has taken
 * N back from X and gives it to Y before anything that it has given nobody, Y's own mark
 * among it. So Y has N before it is the owner, however long messages to X or from it are
 * under way, whatever else of X's connection is still open, and whatever was lost by a
 * server that was killed: a quorum queue has what it has delivered.
 *
 * That a worker died, and with how many beside it (queue/blame.h), its rescuer says with
 * another note in B, from the worker's list (hand.h). Where that is missing when a run
 * note has had its time, nobody is blamed: the message runs alone.
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

/* There will be some soon, on this queue that has none. */
void tracks_expect(struct rmq *q);

/* Claims and leaves tracks by who lives, takes in what has come, puts aside, renews. */
int tracks_turn(struct rmq *q);

/* Nothing is in hand: takes away what was said of what ran. */
int tracks_end(struct rmq *q);

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
void track_heads(const struct rmq *q, struct track *t);
/* May it run, once it has a body? */
static inline bool track_may_run(const struct track_entry *e)
{
    return e->head && e->due && !e->runs && !e->gone && !e->beside && e->named;
}

#endif
