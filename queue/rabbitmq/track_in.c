/* What comes into a track: messages, copies, alarms, notes and marks. */
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/rabbitmq/hand.h"
#include "queue/rabbitmq/proof.h"
#include "queue/rabbitmq/track.h"
#include "queue/rabbitmq/track_in.h"

static int ack(struct rmq *q, const struct track *t, uint64_t tag)
{
    return tag ? wire_ack(&q->wire, WIRE_TRACK + (int)(t - q->tracks), tag) : 0;
}

static int no_memory(struct rmq *q)
{
    return wire_fail(&q->wire, BROKER_NO_MEMORY, "out of memory");
}

/* ===== alarms and notes ===== */

static int add_stray(struct rmq *q, struct track *t, struct track_stray s)
{
    if (t->n_strays == t->room_strays) {
        size_t room = t->room_strays ? 2 * t->room_strays : 16;
        struct track_stray *more = realloc(t->strays, room * sizeof *more);
        if (!more) {
            free(s.text);
            return no_memory(q);
        }
        t->strays = more;
        t->room_strays = room;
    }
    s.first_ns = s.since_ns = bide_now_ns();
    t->strays[t->n_strays++] = s;
    return 0;
}

static void drop_stray(struct track *t, size_t i)
{
    free(t->strays[i].text);
    t->strays[i] = t->strays[--t->n_strays];
}

static bool is_of(const char *text, const char *label)
{
    return text && label && strstr(text, label) != NULL;
}

static void wake(struct track *t, struct track_entry *e, uint64_t tag)
{
    e->due = true;
    e->alarm = tag;
    t->changed = true;
}

static void blame(struct track *t, struct track_entry *e, const char *text, uint64_t tag)
{
    e->beside = strtoul(text, NULL, 10);
    e->note = tag;
    e->suspect = true;
    t->changed = true;
}

static int got_alarm(struct rmq *q, struct track *t, const struct wire_in *in)
{
    for (size_t i = 0; i < t->n; i++) {
        struct track_entry *e = &t->entries[i];
        if (e->gone || !e->wait || e->wait != in->wait)
            continue;
        if (e->alarm)
            return ack(q, t, in->tag);
        wake(t, e, in->tag);
        return 0;
    }
    return add_stray(q, t, (struct track_stray){
                               .wait = in->wait, .seq = in->seq, .tag = in->tag });
}

bool track_blame(struct track *t, const char *text, uint64_t tag)
{
    for (size_t i = 0; i < t->n; i++) {
        struct track_entry *e = &t->entries[i];
        if (e->gone || e->runs || e->beside || !is_of(text, e->label))
            continue;
        blame(t, e, text, tag);
        return true;
    }
    return false;
}

static int got_note(struct rmq *q, struct track *t, const struct wire_in *in)
{
    struct track_stray s = { .tag = in->tag,
                             .text = strdup((const char *)in->message->body) };

    if (!s.text)
        return no_memory(q);
    if (!track_blame(t, s.text, in->tag))
        return add_stray(q, t, s);
    free(s.text);
    return 0;
}

/* What came before its message. */
static void find_strays(struct track *t, struct track_entry *e)
{
    for (size_t i = 0; i < t->n_strays;) {
        struct track_stray *s = &t->strays[i];
        if (!s->text && e->wait && s->wait == e->wait && !e->alarm)
            wake(t, e, s->tag);
        else if (is_of(s->text, e->label) && !e->runs && !e->beside)
            blame(t, e, s->text, s->tag);
        else {
            i++;
            continue;
        }
        drop_stray(t, i);
    }
}

/* ===== messages ===== */

/* What arrived becomes the entry's; `in` keeps nothing. */
static int fill(struct rmq *q, struct track *t, struct track_entry *e,
                struct wire_in *in)
{
    char label[HAND_LABEL];
    struct queue_message *m = in->message;

    hand_label(label, m);
    free(e->label);
    e->label = strdup(label);
    if (!e->label)
        return no_memory(q);
    e->hash = track_hash(m->key);
    e->tag = in->tag;
    e->since_ns = bide_now_ns();
    e->deliveries = m->deliveries;
    e->queued_ms = m->queued_ms;
    e->fresh = in->consumer == TRACK_FRESH;
    e->named = in->named;
    e->retry = m->attempt > 0;
    e->suspect = m->suspect;
    if (e->wait != in->wait || !in->wait) {
        e->wait = in->wait;
        e->due = !in->wait;
    }
    queue_message_free(e->message);
    e->message = m;
    in->message = NULL;
    t->changed = true;
    find_strays(t, e);
    return 0;
}

/* It ran here before the connection failed, and still does. */
static void run_on(struct rmq *q, struct track *t, struct track_entry *e)
{
    struct rmq_hand *h = hand_unattached(q, e->message);

    if (!h)
        return;
    hand_attach(h, (uint16_t)(WIRE_TRACK + (t - q->tracks)), e->tag);
    h->track = (int)(t - q->tracks);
    h->seq = e->seq;
    e->runs = true;
    queue_message_free(e->message);
    e->message = NULL;
}

static struct rmq_hand *hand_of(struct rmq *q, const struct track *t, uint64_t seq)
{
    for (size_t i = 0; i < q->n_hand; i++)
        if (q->hand[i].track == (int)(t - q->tracks) && q->hand[i].seq == seq &&
            q->hand[i].attached)
            return &q->hand[i];
    return NULL;
}

/* The copy of one that runs: from now on it is that which is acknowledged. */
static int go_on_with(struct rmq *q, struct track *t, struct track_entry *e,
                      const struct wire_in *in)
{
    struct rmq_hand *h = hand_of(q, t, e->seq);
    int status = ack(q, t, e->tag);

    if (h)
        hand_attach(h, in->channel, in->tag);
    e->tag = in->tag;
    e->since_ns = bide_now_ns();
    e->fresh = e->copied = false;
    return status;
}

/* A new one, the copy that was expected, or one of two with one number. */
static int got_held(struct rmq *q, struct track *t, struct wire_in *in)
{
    struct track_entry *e = track_find(t, in->seq);
    int status = 0;

    if (!e && t->owned) /* by whom we follow, later than our mark: A has it, or had */
        return ack(q, t, in->tag);
    if (!e) {
        e = track_add(t, in->seq);
        status = e ? fill(q, t, e, in) : no_memory(q);
        if (status == 0 && in->redelivered)
            run_on(q, t, e);
        return status;
    }
    if (e->copied && e->runs && in->message->deliveries == e->deliveries)
        return go_on_with(q, t, e, in);
    if (e->tag && in->message->deliveries < e->deliveries)
        return ack(q, t, in->tag);
    status = ack(q, t, e->tag);
    struct rmq_hand *h = e->runs ? hand_of(q, t, e->seq) : NULL;
    if (h)
        h->attached = false; /* it was settled before the connection failed */
    e->runs = e->copied = false;
    return status == 0 ? fill(q, t, e, in) : status;
}

/* Whether B has it: then it was put aside, and not acknowledged here. */
static bool is_held(const struct track *t, const struct queue_message *m)
{
    const uint64_t hash = track_hash(m->key);
    const size_t len = strlen(m->id);

    for (size_t i = 0; i < t->n; i++) {
        const struct track_entry *e = &t->entries[i];
        if (!e->fresh && !e->gone && e->hash == hash && e->label &&
            (e->queued_ms == m->queued_ms || m->queued_ms <= 0) &&
            strncmp(e->label + 1, m->id, len) == 0 && e->label[1 + len] == '\t')
            return true;
    }
    return false;
}

static int got_fresh(struct rmq *q, struct track *t, struct wire_in *in)
{
    if (in->redelivered && in->named &&
        (is_held(t, in->message) || hand_was_settled(q, in->message)))
        return ack(q, t, in->tag);
    struct track_entry *e = track_add(t, t->last_seq + 1);
    int status = e ? fill(q, t, e, in) : no_memory(q);
    if (status == 0 && in->redelivered)
        run_on(q, t, e);
    return status;
}

static int arrive(struct rmq *q, struct wire_in *in)
{
    struct track *t = &q->tracks[in->channel - WIRE_TRACK];

    if (!t->consumes)
        return 0; /* we have left */
    if (in->consumer == TRACK_FRESH)
        return got_fresh(q, t, in);
    switch (in->kind) {
    case COPY_MARK:
        return proof_got_mark(q, t, in);
    case COPY_RUN:
        return proof_got_run(q, t, in);
    case COPY_ALARM:
        return got_alarm(q, t, in);
    case COPY_NOTE:
        return got_note(q, t, in);
    default:
        return got_held(q, t, in);
    }
}

int tracks_receive(struct rmq *q)
{
    struct wire *w = &q->wire;
    size_t n = 0, kept = 0;
    int status = 0;

    if (!tracks_rang(q))
        return 0;
    struct wire_in *in = calloc(w->n_in, sizeof *in);
    if (!in)
        return no_memory(q);
    for (size_t i = 0; i < w->n_in; i++)
        if (w->in[i].channel >= WIRE_TRACK)
            in[n++] = w->in[i];
        else
            w->in[kept++] = w->in[i];
    w->n_in = kept;
    for (size_t i = 0; i < n; i++) {
        if (status == 0)
            status = arrive(q, &in[i]);
        wire_in_free(&in[i]);
    }
    free(in);
    return status;
}
