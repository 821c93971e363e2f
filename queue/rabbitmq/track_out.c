/* What goes out of a track: to handlers, aside, and back. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bide/run.h"
#include "queue/blame.h"
#include "queue/make_id.h"
#include "queue/rabbitmq/hand.h"
#include "queue/rabbitmq/proof.h"
#include "queue/rabbitmq/track.h"
#include "queue/rabbitmq/track_in.h"

#define S INT64_C(1000000000)
#define NOTE_NS (5 * S) /* then it is of a message that was settled */

enum { IN_THE_WAY = 8, BODIES = 64 };

static int channel_of(const struct rmq *q, const struct track *t)
{
    return WIRE_TRACK + (int)(t - q->tracks);
}

int track_publish_held(struct rmq *q, const struct copy *c)
{
    char name[RMQ_NAME];

    return copy_publish(&q->wire, "", place_lane(q, LANE_HELD + track_of(c->key), name),
                        c);
}

int track_alarm(struct rmq *q, const struct copy *c, int64_t delay_ns,
                uint64_t *ret_wait)
{
    struct copy alarm = *c;

    while (getrandom(ret_wait, sizeof *ret_wait, 0) < 0)
        ;
    *ret_wait = (*ret_wait >> 2) + 1; /* fits into a header */
    alarm.kind = COPY_ALARM;
    alarm.wait = *ret_wait;
    alarm.body = "";
    alarm.len = 0;
    alarm.n_attributes = 0;
    return place_publish(q, &alarm, LANE_HELD + track_of(c->key), delay_ns);
}

int track_note(struct rmq *q, const char *key, const char *line, size_t len,
               size_t running)
{
    char *text;
    int n = asprintf(&text, "%zu\n%.*s", running, (int)len, line);

    if (n < 0)
        return wire_fail(&q->wire, BROKER_NO_MEMORY, "out of memory");
    struct copy note = { .key = key, .kind = COPY_NOTE, .body = text,
                         .len = (size_t)n };
    int status = track_publish_held(q, &note);
    free(text);
    return status;
}

/* ===== aside ===== */

static struct queue_message *running_message(const struct rmq *q, const struct track *t,
                                             uint64_t seq)
{
    for (size_t i = 0; i < q->n_hand; i++)
        if (q->hand[i].track == (int)(t - q->tracks) && q->hand[i].seq == seq)
            return q->hand[i].message;
    return NULL;
}

/* The same delivery goes on with the copy. */
static int put_aside(struct rmq *q, struct track *t, struct track_entry *e)
{
    struct queue_message *m = e->runs ? running_message(q, t, e->seq) : e->message;
    char id[QUEUE_ID_MAX + 1];

    if (!m || e->copied)
        return 0;
    struct copy c = copy_of(m);
    c.deliveries--;
    c.seq = e->seq;
    c.wait = e->wait;
    if (!e->named) {
        queue_make_id(id);
        c.id = id;
        if (c.queued_ms <= 0)
            c.queued_ms = rmq_now_ms();
    }
    e->copied = true;
    q->listed_wrong = true;
    return track_publish_held(q, &c);
}

/* All of a key that are in A, from the first on. */
static int put_key_aside(struct rmq *q, struct track *t, uint64_t hash)
{
    int status = 0;

    for (size_t i = 0; i < t->n && status == 0; i++)
        if (t->entries[i].fresh && t->entries[i].hash == hash && !t->entries[i].gone)
            status = put_aside(q, t, &t->entries[i]);
    return status;
}

/* Those that are in the way of others, cannot run as they are, or have been here for
 * long. */
static int make_way(struct rmq *q, struct track *t, int64_t now)
{
    size_t fresh = 0, blocked = 0;
    int status = 0;

    t->held = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct track_entry *e = &t->entries[i];
        fresh += e->fresh && !e->copied;
        blocked += e->fresh && !e->head && !e->copied;
        t->held += !e->fresh || e->copied;
    }
    bool tight = t->held < TRACK_MOST &&
                 (blocked >= IN_THE_WAY || fresh > TRACK_WINDOW * 3 / 4);
    for (size_t i = 0; i < t->n && status == 0; i++) {
        struct track_entry *e = &t->entries[i];
        if (e->fresh && !e->copied &&
            ((tight && (e->runs || !e->head)) || (!e->due && !e->runs) || !e->named ||
             now - e->since_ns > q->renew_ns))
            status = put_key_aside(q, t, e->hash);
        else if (e->runs && !e->copied && now - e->since_ns > q->renew_ns)
            status = put_aside(q, t, e);
    }
    return status;
}

/* ===== back ===== */

/* It comes again, with its body. */
static int give_back(struct rmq *q, struct track *t, struct track_entry *e)
{
    uint64_t tag = e->tag;

    if (!tag || e->fresh || e->copied)
        return 0;
    queue_message_free(e->message);
    e->message = NULL;
    e->tag = 0;
    return wire_requeue(&q->wire, channel_of(q, t), tag);
}

static int renew_stray(struct rmq *q, struct track *t, uint64_t tag)
{
    return wire_requeue(&q->wire, channel_of(q, t), tag);
}

/* What has been unacknowledged for long, and does not run; and what nobody needs. */
static int renew(struct rmq *q, struct track *t, int64_t now)
{
    int status = 0;

    for (size_t i = 0; i < t->n && status == 0; i++) {
        struct track_entry *e = &t->entries[i];
        if (e->fresh || e->runs || !e->tag || now - e->since_ns <= q->renew_ns)
            continue;
        if (e->alarm)
            status = renew_stray(q, t, e->alarm);
        if (e->note && status == 0)
            status = renew_stray(q, t, e->note);
        e->alarm = e->note = 0;
        e->beside = 0;
        if (status == 0)
            status = give_back(q, t, e);
    }
    for (size_t i = 0; i < t->n_strays && status == 0;) {
        struct track_stray *s = &t->strays[i];
        /* a worker's alarm is there before its message, which would be here by now; that
         * of a producer may be far before it in A */
        bool stale = s->text ? now - s->first_ns > NOTE_NS : s->seq != 0;
        if (!stale && now - s->since_ns <= q->renew_ns) {
            i++;
            continue;
        }
        status = stale ? wire_ack(&q->wire, channel_of(q, t), s->tag)
                       : renew_stray(q, t, s->tag);
        free(s->text);
        *s = t->strays[--t->n_strays];
    }
    return status;
}

/* ===== whose worker died ===== */

/* Confirmed, then acknowledged, then the note goes. */
static int judge(struct rmq *q, struct track *t, struct track_entry *e)
{
    struct copy c = copy_of(e->message);
    struct queue_blame b = queue_blame(e->beside, c.deaths, q->max_deaths);
    int channel = channel_of(q, t);

    c.deaths = b.deaths;
    c.suspect = b.suspect;
    c.seq = e->seq;
    wire_begin(&q->wire);
    int status = b.dead ? place_bury(q, &c) : track_publish_held(q, &c);
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status == 0)
        status = wire_ack(&q->wire, channel, e->tag);
    if (status == 0 && e->alarm)
        status = wire_ack(&q->wire, channel, e->alarm);
    if (status == 0)
        status = wire_ack(&q->wire, channel, e->note);
    queue_message_free(e->message);
    e->message = NULL;
    e->tag = e->alarm = e->note = e->wait = 0;
    e->beside = 0;
    e->fresh = false;
    e->gone = b.dead;
    t->changed = true;
    return status;
}

/* ===== a turn ===== */

/* Bodies of those that cannot run now are the server's. */
static int sort_out(struct rmq *q, struct track *t, int64_t now)
{
    size_t bodies = 0;
    int status = 0;

    status = proof_sweep(q, t);
    track_heads(q, t);
    for (size_t i = 0; i < t->n && status == 0; i++) {
        struct track_entry *e = &t->entries[i];
        if (e->beside && e->head && e->message && e->named && !e->copied)
            status = judge(q, t, e);
        else if (e->beside && e->head && !e->message)
            status = give_back(q, t, e);
        else if (e->message && !e->fresh && !(track_may_run(e) && bodies++ < BODIES)) {
            queue_message_free(e->message);
            e->message = NULL;
        }
    }
    if (status == 0)
        status = renew(q, t, now);
    return status == 0 ? make_way(q, t, now) : status;
}

int tracks_turn(struct rmq *q)
{
    int64_t now = bide_now_ns();

    int status = tracks_balance(q);

    if (status == 0)
        status = q->tracks_asked ? tracks_sync(q) : tracks_receive(q);
    wire_begin(&q->wire);
    for (int i = 0; i < TRACKS && status == 0; i++)
        if (q->tracks[i].owned)
            status = sort_out(q, &q->tracks[i], now);
    if (status == 0)
        status = proof_say(q);
    return status == 0 ? wire_wait(&q->wire) : status;
}

/* ===== to handlers ===== */

static int hand_out(struct rmq *q, struct track *t, struct track_entry *e,
                    struct queue_message **ret, size_t *n)
{
    struct queue_message *m = e->message;

    if (m->queued_ms <= 0)
        m->queued_ms = rmq_now_ms();
    if (m->due_ms <= 0)
        m->due_ms = m->queued_ms;
    if (hand_add(q, m, (uint16_t)channel_of(q, t), e->tag) != 0)
        return rmq_no_memory(q);
    q->hand[q->n_hand - 1].track = (int)(t - q->tracks);
    q->hand[q->n_hand - 1].seq = e->seq;
    ret[(*n)++] = m;
    e->message = NULL;
    e->runs = true;
    return 0;
}

/* When B is full, what is there goes first. */
static bool may_go(const struct track *t, const struct track_entry *e)
{
    return track_may_run(e) && !(e->fresh && t->held >= TRACK_MOST);
}

/* Of one kind; one whose body is not here is asked for. */
static int take_of(struct rmq *q, bool retry, struct queue_message **ret, size_t *n,
                   size_t most)
{
    size_t given = 0;
    int status = 0;

    for (int k = 0; k < TRACKS; k++) {
        /* another one first each time: none starves */
        struct track *t = &q->tracks[(k + q->last_track) % TRACKS];
        for (size_t i = 0; i < t->n && status == 0 && t->owned && given < most; i++) {
            struct track_entry *e = &t->entries[i];
            if (!may_go(t, e) || e->copied || e->suspect || e->retry != retry)
                continue;
            given++;
            status = e->message ? hand_out(q, t, e, ret, n) : give_back(q, t, e);
        }
    }
    return status;
}

int tracks_take(struct rmq *q, struct queue_message **ret, size_t *n, size_t most,
                size_t retries)
{
    size_t before = *n;

    q->last_track++;
    int status = take_of(q, true, ret, n, retries < most ? retries : most);
    if (status == 0)
        status = take_of(q, false, ret, n, most - (*n - before));
    if (status == 0 && *n - before < most)
        status = take_of(q, true, ret, n, most - (*n - before));
    return status;
}

int tracks_take_suspect(struct rmq *q, struct queue_message **ret, size_t *n)
{
    for (int k = 0; k < TRACKS; k++)
        for (size_t i = 0; i < q->tracks[k].n; i++) {
            struct track_entry *e = &q->tracks[k].entries[i];
            if (q->tracks[k].owned && track_may_run(e) && !e->copied && e->suspect)
                return e->message ? hand_out(q, &q->tracks[k], e, ret, n)
                                  : give_back(q, &q->tracks[k], e);
        }
    return 0;
}

static bool is_there(const struct rmq *q, bool suspect)
{
    for (int k = 0; k < TRACKS; k++)
        for (size_t i = 0; i < q->tracks[k].n && q->tracks[k].owned; i++)
            if (may_go(&q->tracks[k], &q->tracks[k].entries[i]) &&
                q->tracks[k].entries[i].suspect == suspect)
                return true;
    return false;
}

bool tracks_more(const struct rmq *q)
{
    return is_there(q, false);
}

bool tracks_suspects(const struct rmq *q)
{
    return is_there(q, true);
}

/* ===== the end ===== */

int tracks_settle_begin(struct rmq *q, const struct rmq_hand *h)
{
    int status = 0;

    for (int i = 0; i < 3 && status == 0; i++) {
        const struct track_entry *e = track_find(&q->tracks[h->track], h->seq);
        if (!e || !e->copied)
            return 0;
        status = tracks_sync(q);
    }
    if (status == 0) {
        wire_drop(&q->wire);
        status = wire_fail(&q->wire, BROKER_DOWN, "a message does not arrive");
    }
    return status;
}

int tracks_settled(struct rmq *q, const struct rmq_hand *h, bool again, uint64_t wait)
{
    struct track *t = &q->tracks[h->track];
    struct track_entry *e = track_find(t, h->seq);
    int status = 0;

    if (!e)
        return 0;
    if (e->alarm)
        status = wire_ack(&q->wire, channel_of(q, t), e->alarm);
    if (status == 0)
        status = proof_end(q, t, h->token);
    e->alarm = e->tag = 0;
    e->wait = wait;
    e->due = wait == 0;
    e->runs = e->fresh = e->suspect = false;
    e->gone = !again;
    t->changed = true;
    q->tracks_asked |= again;
    return status;
}
