/* Notes of what runs, and the proof that a track is ours. */
#include "queue/rabbitmq/proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/hold_clock.h"
#include "queue/rabbitmq/hand.h"
#include "queue/rabbitmq/track.h"
#include "queue/rabbitmq/track_in.h"

/* Of a lease: when a handler must be gone, and how often that is put off. The sixth that
 * is left is for a thread that comes late, and for a process that takes time to die. */
#define HOLD_NS(lease) ((lease) / 6 * 5)
#define MARK_NS(lease) ((lease) / 6)

#define MS INT64_C(1000000)

enum { NOBODY_TO_BLAME = 2 }; /* so many ran beside it (queue/blame.h) */

static int index_of(const struct rmq *q, const struct track *t)
{
    return (int)(t - q->tracks);
}

static int ack(struct rmq *q, const struct track *t, uint64_t tag)
{
    return tag ? wire_ack(&q->wire, WIRE_TRACK + index_of(q, t), tag) : 0;
}

static int no_memory(struct rmq *q)
{
    return wire_fail(&q->wire, BROKER_NO_MEMORY, "out of memory");
}

static bool is_of(const struct rmq_hand *h, int track)
{
    return h->track == track && h->attached;
}

bool proof_is_over(const struct rmq_hand *h)
{
    return hold_clock_ns() >= h->message->hold_ns;
}

void proof_detach(struct rmq *q, int track)
{
    for (size_t i = 0; i < q->n_hand; i++)
        if (q->hand[i].track == track) {
            q->hand[i].attached = false;
            q->hand[i].said_ns = q->hand[i].noted_ns = 0;
        }
}

/* ===== what we say ===== */

int proof_mark(struct rmq *q, int track, int64_t *ret_mark)
{
    char name[RMQ_NAME];
    struct copy mark = { .id = q->worker, .kind = COPY_MARK };

    *ret_mark = hold_clock_ns();
    mark.wait = (uint64_t)*ret_mark;
    return copy_publish(&q->wire, "", place_lane(q, LANE_HELD + track, name),
                        &mark);
}

/* The text is that of a rescuer who knows nothing. */
static int say(struct rmq *q, struct rmq_hand *h)
{
    char *text;
    int n = asprintf(&text, "%d\n%s", NOBODY_TO_BLAME, h->line);

    if (n < 0)
        return no_memory(q);
    h->said_ns = hold_clock_ns();
    h->renewed_ns = bide_now_ns();
    struct copy note = { .id = q->worker,
                         .key = h->message->key,
                         .kind = COPY_RUN,
                         .token = h->token,
                         .wait = (uint64_t)h->said_ns,
                         .due_ms = q->lease_ns / MS,
                         .body = text,
                         .len = (size_t)n };
    int status = track_publish_held(q, &note);
    free(text);
    return status;
}

int proof_say(struct rmq *q)
{
    bool runs[TRACKS] = { false };
    int status = 0;

    for (size_t i = 0; i < q->n_hand && status == 0; i++) {
        struct rmq_hand *h = &q->hand[i];
        if (h->track < 0 || !h->attached || !q->tracks[h->track].owned)
            continue;
        runs[h->track] = true;
        if (!h->said_ns || bide_now_ns() - h->renewed_ns > q->renew_ns)
            status = say(q, h);
    }
    for (int i = 0; i < TRACKS && status == 0; i++) {
        struct track *t = &q->tracks[i];
        int64_t now = hold_clock_ns();
        if (runs[i] && now - t->proven_ns >= MARK_NS(q->lease_ns) &&
            now - t->marked_ns >= MARK_NS(q->lease_ns))
            status = proof_mark(q, i, &t->marked_ns);
    }
    return status;
}

/* One that was said, and has not come back. */
static const struct rmq_hand *unproven(const struct rmq *q)
{
    for (size_t i = 0; i < q->n_hand; i++)
        if (q->hand[i].track >= 0 && q->hand[i].attached &&
            q->hand[i].said_ns && !q->hand[i].noted_ns)
            return &q->hand[i];
    return NULL;
}

int proof_wait(struct rmq *q)
{
    int status = 0;

    for (int i = 0; i < 3 && status == 0 && unproven(q); i++)
        status = tracks_sync(q);
    if (status != 0 || !unproven(q))
        return status;
    wire_drop(&q->wire);
    return wire_fail(&q->wire, BROKER_DOWN,
                     "a note of what runs does not arrive");
}

int proof_beat(struct rmq *q)
{
    bool late = false;

    for (size_t i = 0; i < q->n_hand; i++) {
        const struct rmq_hand *h = &q->hand[i];
        late |= h->track >= 0 && h->attached &&
                hold_clock_ns() - q->tracks[h->track].proven_ns >=
                    MARK_NS(q->lease_ns);
    }
    if (!late)
        return 0;
    wire_begin(&q->wire);
    int status = proof_say(q);
    if (status == 0)
        status = wire_wait(&q->wire);
    return status == 0 ? tracks_sync(q) : status;
}

/* Until when those that run are ours. */
static void prove(struct rmq *q, struct track *t, int64_t sent_ns)
{
    int track = index_of(q, t);

    if (sent_ns > t->proven_ns)
        t->proven_ns = sent_ns;
    for (size_t i = 0; i < q->n_hand; i++)
        if (is_of(&q->hand[i], track) && q->hand[i].noted_ns)
            q->hand[i].message->hold_ns = t->proven_ns + HOLD_NS(q->lease_ns);
}

int proof_got_mark(struct rmq *q, struct track *t, const struct wire_in *in)
{
    bool ours = strcmp(in->message->id, q->worker) == 0 && !in->redelivered;

    t->owned |= ours && t->claim_ns && in->wait == (uint64_t)t->claim_ns;
    if (ours && t->owned)
        prove(q, t, (int64_t)in->wait);
    return ack(q, t, in->tag);
}

/* ===== notes ===== */

/* When we saw it first, also before we left the track. */
static int64_t first_seen(struct rmq *q, uint64_t token, uint64_t sent_ns)
{
    int64_t now = hold_clock_ns();
    struct rmq_seen *old = NULL;

    for (size_t i = 0; i < q->n_seen; i++) {
        struct rmq_seen *s = &q->seen[i];
        if (s->token == token && s->sent_ns == sent_ns) {
            s->last_ns = now;
            return s->first_ns;
        }
        if (now - s->last_ns > 2 * q->lease_ns)
            old = s;
    }
    if (!old && q->n_seen == q->room_seen) {
        size_t room = q->room_seen ? 2 * q->room_seen : 64;
        struct rmq_seen *more = realloc(q->seen, room * sizeof *more);
        if (!more)
            return now; /* once more from the beginning, when it comes again */
        q->seen = more;
        q->room_seen = room;
    }
    old = old ? old : &q->seen[q->n_seen++];
    *old = (struct rmq_seen){ token, sent_ns, now, now };
    return now;
}

static struct track_run *find_run(const struct track *t, uint64_t token,
                                  uint64_t sent_ns)
{
    for (size_t i = 0; i < t->n_runs; i++)
        if (t->runs[i].token == token && t->runs[i].sent_ns == sent_ns)
            return &t->runs[i];
    return NULL;
}

static struct track_run *add_run(struct track *t, const struct wire_in *in)
{
    if (t->n_runs == t->room_runs) {
        size_t room = t->room_runs ? 2 * t->room_runs : 16;
        struct track_run *more = realloc(t->runs, room * sizeof *more);
        if (!more)
            return NULL;
        t->runs = more;
        t->room_runs = room;
    }
    char *text = strdup((const char *)in->message->body);
    if (!text)
        return NULL;
    struct track_run *r = &t->runs[t->n_runs++];
    *r = (struct track_run){ .token = in->token,
                             .sent_ns = in->wait,
                             .hash = track_hash(in->message->key),
                             .lease_ns = in->message->due_ms * MS,
                             .text = text };
    t->changed = true;
    return r;
}

static int interrupted(struct rmq *q)
{
    wire_drop(&q->wire);
    return wire_fail(&q->wire, BROKER_DOWN,
                     "a track was another worker's for a while");
}

int proof_got_run(struct rmq *q, struct track *t, const struct wire_in *in)
{
    struct rmq_hand *h = hand_find(q, in->token);
    struct track_run *r = find_run(t, in->token, in->wait);

    if (!r) {
        r = add_run(t, in);
        if (!r)
            return no_memory(q);
        r->mine = strcmp(in->message->id, q->worker) == 0;
        r->first_ns = r->mine ? 0 : first_seen(q, r->token, r->sent_ns);
    }
    if (r->tag) /* it was with somebody else meanwhile: a part of a cluster was away */
        return interrupted(q);
    r->tag = in->tag;
    r->came_ns = bide_now_ns();
    if (!r->mine || !h || !is_of(h, index_of(q, t)) || in->redelivered ||
        in->wait != (uint64_t)h->said_ns)
        return 0;
    h->noted_ns = h->said_ns;
    prove(q, t, h->said_ns);
    return 0;
}

static void drop_run(struct track *t, size_t i)
{
    free(t->runs[i].text);
    t->runs[i] = t->runs[--t->n_runs];
    t->changed = true;
}

void proof_clear(struct track *t)
{
    while (t->n_runs > 0)
        drop_run(t, 0);
    free(t->runs);
    t->runs = NULL;
}

int proof_end(struct rmq *q, struct track *t, uint64_t token)
{
    int status = 0;

    for (size_t i = t->n_runs; i-- > 0 && status == 0;)
        if (t->runs[i].mine && t->runs[i].token == token && t->runs[i].tag) {
            status = ack(q, t, t->runs[i].tag);
            drop_run(t, i);
        }
    return status;
}

/* Ours, of which we hold nothing any more, or have said something newer. */
static bool is_spent(struct rmq *q, const struct track_run *r)
{
    const struct rmq_hand *h = hand_find(q, r->token);

    return r->tag && (!h || r->sent_ns < (uint64_t)h->noted_ns);
}

static bool has_newer(const struct track *t, const struct track_run *than)
{
    for (size_t i = 0; i < t->n_runs; i++)
        if (t->runs[i].token == than->token &&
            t->runs[i].sent_ns > than->sent_ns)
            return true;
    return false;
}

/* Its worker has stopped its handler by now; that may have been started with a longer
 * lease than we were. */
static bool has_had_its_time(const struct rmq *q, const struct track_run *r)
{
    int64_t lease = r->lease_ns > q->lease_ns ? r->lease_ns : q->lease_ns;

    return r->tag && hold_clock_ns() - r->first_ns >= lease;
}

int proof_sweep(struct rmq *q, struct track *t)
{
    int status = 0;

    for (size_t i = t->n_runs; i-- > 0 && status == 0;) {
        struct track_run *r = &t->runs[i];
        bool used = false;
        if (r->mine ? is_spent(q, r) : has_had_its_time(q, r)) {
            if (!r->mine && !has_newer(t, r))
                used = track_blame(t, r->text, r->tag);
            status = used ? 0 : ack(q, t, r->tag);
            drop_run(t, i);
        } else if (r->tag && bide_now_ns() - r->came_ns > q->renew_ns) {
            status =
                wire_requeue(&q->wire, WIRE_TRACK + index_of(q, t), r->tag);
            r->tag = 0;
        }
    }
    return status;
}

/* ===== what follows ===== */

void proof_closed(const struct rmq *q, const struct track *t,
                  void (*fn)(void *arg, uint64_t hash), void *arg)
{
    for (size_t i = 0; i < t->n_runs; i++)
        if (!t->runs[i].mine)
            fn(arg, t->runs[i].hash);
    for (size_t i = 0; i < q->n_hand; i++)
        if (q->hand[i].track == index_of(q, t) && !q->hand[i].attached)
            fn(arg, track_hash(q->hand[i].message->key));
}

bool proof_is_quiet(const struct track *t)
{
    for (size_t i = 0; i < t->n_runs; i++)
        if (t->runs[i].mine)
            return false;
    return t->marked_ns <= t->proven_ns;
}

int64_t proof_look_ns(const struct rmq *q)
{
    return q->lease_ns / 12;
}

/* If something of it runs here, we stay: others may have to stop theirs. */
bool proof_is_awaited(const struct rmq *q, const struct track *t)
{
    bool awaited = false;

    for (size_t i = 0; i < q->n_hand; i++)
        if (q->hand[i].track == index_of(q, t))
            return false;
    for (size_t i = 0; i < t->n_runs; i++)
        awaited |= !t->runs[i].mine &&
                   hold_clock_ns() - t->runs[i].first_ns < q->lease_ns / 3;
    return awaited;
}
