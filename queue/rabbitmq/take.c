/* Taking: how many wait in each lane, so many of each, and the list of what we hold
 * then. Three round trips, whatever the number of messages; one, while a lane flows. */
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "queue/make_id.h"
#include "queue/rabbitmq/bell.h"
#include "queue/rabbitmq/deliver.h"
#include "queue/rabbitmq/hand.h"
#include "queue/rabbitmq/proof.h"
#include "queue/rabbitmq/session.h"
#include "queue/rabbitmq/track.h"

/* How long a priority that had nothing is taken to have nothing; while one flows, any. */
#define STALE_NS INT64_C(20000000)

/* A lane flows for who is back within this time, and takes so many, and not too large. */
#define QUICK_NS INT64_C(20000000)
enum { FLOW_LEAST = 16, FLOW_MOST = 256, FLOW_BYTES = 4 << 20 };

/* What came must be taken within about this time, and so many takes. */
#define FLOW_NS INT64_C(100000000)
enum { FLOW_TAKES = 4 };

/* A take on its way. */
struct taking {
    struct rmq *q;
    struct broker_take *want;
    struct queue_message **ret;
    size_t n, n_aged;
    int64_t now;
    uint32_t ready[LANES];  /* that wait in a lane, those of its bell included */
    uint32_t rung[LANES];
    uint32_t give[LANES];   /* that we take of them */
    uint32_t behind;        /* of a lane that flows, what has not come yet */
    struct lists lists;     /* of other workers, if we need to know */
    bool has_lists;
    bool suspect;           /* one with a key goes, and nothing else */
    struct wire_in *moved;  /* that were published elsewhere: to be acknowledged */
    size_t n_moved;
};

/* ===== how many there are ===== */

static bool is_known(const struct taking *t, int lane)
{
    const struct rmq *q = t->q;

    if (lane == q->flow)
        return t->rung[lane] >= t->want->most;
    if (q->bell_of[lane] && !t->rung[lane])
        return true; /* its bell would have rung */
    return (q->flow >= 0 || (lane < LANE_RETRY && lane != LANE_NORMAL)) &&
           t->now - q->asked_ns[lane] < STALE_NS;
}

static void count_rung(struct taking *t)
{
    const struct wire *w = &t->q->wire;

    memset(t->rung, 0, sizeof t->rung);
    for (size_t i = 0; i < w->n_in; i++)
        if (w->in[i].channel == WIRE_BELL)
            t->rung[w->in[i].consumer % 32]++;
}

/* What we hold of it is all that may be out: no more comes before something ends. */
static bool is_blocked(const struct taking *t)
{
    const struct rmq *q = t->q;
    size_t out = t->rung[q->flow];

    for (size_t i = 0; i < q->n_hand; i++)
        out += q->hand[i].attached && q->hand[i].channel == WIRE_BELL && !q->hand[i].ending;
    return t->rung[q->flow] < t->want->most && out >= q->flow_most;
}

static int ask_lanes(struct taking *t)
{
    struct rmq *q = t->q;
    char name[RMQ_NAME];
    int asked[LANES], n = 0, status = 0;

    count_rung(t);
    wire_begin(&q->wire);
    for (int i = 0; i < LANES && status == 0; i++)
        if (!is_known(t, i)) {
            asked[n++] = i;
            status = wire_ask_queue(&q->wire, WIRE_WORK, place_lane(q, i, name));
        }
    if (status == 0)
        status = wire_wait(&q->wire);
    for (int i = 0; i < n && status == 0; i++) {
        t->ready[asked[i]] = q->wire.queues[i].messages;
        q->asked_ns[asked[i]] = q->wire.queues[i].messages ? 0 : t->now;
    }
    count_rung(t); /* more has come while we asked */
    if (q->flow >= 0 && is_blocked(t)) {
        status = status == 0 ? bell_silence(q, q->flow) : status;
    } else if (q->flow >= 0) {
        t->behind = t->ready[q->flow];
        t->ready[q->flow] = 0; /* it comes by itself */
    }
    for (int i = 0; i < LANES; i++) {
        t->ready[i] += t->rung[i];
        if (t->ready[i] == 0)
            q->served_ns[i] = t->now;
    }
    return status;
}

/* ===== who goes ===== */

static uint32_t give(struct taking *t, int lane, size_t most, size_t *left)
{
    uint32_t n = t->ready[lane] - t->give[lane];

    n = n < most ? n : (uint32_t)most;
    n = n < *left ? n : (uint32_t)*left;
    t->give[lane] += n;
    t->q->used[lane] |= n > 0;
    *left -= n;
    return n;
}

static void plan(struct taking *t)
{
    size_t left = t->want->most - t->n_aged - t->n;

    if (t->want->alone && t->ready[LANE_SUSPECT] > 0) {
        t->give[LANE_SUSPECT] = 1;
        return;
    }
    give(t, LANE_RETRY, t->want->retries, &left);
    for (int i = 0; i < LANE_RETRY; i++)
        if (give(t, i, left, &left) > 0)
            t->q->served_ns[i] = t->now;
    give(t, LANE_RETRY, left, &left);
}

/* ===== who waited too long ===== */

/* The head of a lane that was not served for so long: it goes first, or back to where it
 * was until it is that old. */
static int judge_age(struct taking *t, int lane, struct wire_in *in, struct wire_in *to)
{
    int64_t age = (rmq_now_ms() - in->message->due_ms) * 1000000;

    if (age > t->q->ageing_ns && t->n_aged + t->n < t->want->most) {
        to[t->n_aged++] = *in;
        t->ready[lane]--;
        return 0;
    }
    t->q->served_ns[lane] = t->now - (age > 0 ? age : 0);
    int status = wire_requeue(&t->q->wire, in->channel, in->tag);
    wire_in_free(in);
    return status;
}

/* Only where not all can be taken. `to` has room. */
static int take_aged(struct taking *t, struct wire_in *to)
{
    struct rmq *q = t->q;
    char name[RMQ_NAME];
    size_t sum = t->ready[LANE_RETRY];
    int status = 0;

    for (int i = 0; i < LANE_RETRY; i++)
        sum += t->ready[i];
    if (sum <= t->want->most || (t->want->alone && t->ready[LANE_SUSPECT] > 0))
        return 0;
    for (int i = 0; i < LANE_RETRY && status == 0; i++) {
        struct wire_in in;
        size_t n = 0;
        if (t->ready[i] == t->rung[i] || t->now - q->served_ns[i] <= q->ageing_ns)
            continue;
        wire_begin(&q->wire);
        status = wire_ask_get(&q->wire, WIRE_WORK, place_lane(q, i, name));
        if (status == 0)
            status = wire_wait(&q->wire);
        if (status == 0)
            wire_pick(&q->wire, WIRE_WORK, &in, &n);
        if (n > 0)
            status = judge_age(t, i, &in, to);
    }
    return status;
}

/* Those that a bell has brought, then what has to be asked for. *ret is the caller's. */
static int fetch(struct taking *t, struct wire_in **ret, size_t *ret_n)
{
    struct rmq *q = t->q;
    struct wire *w = &q->wire;
    char name[RMQ_NAME];
    size_t kept = 0;
    int status = 0;

    *ret = calloc(t->want->most + w->n_in + 1, sizeof **ret);
    if (!*ret)
        return rmq_no_memory(q);
    status = take_aged(t, *ret);
    *ret_n = t->n_aged;
    plan(t);
    for (size_t i = 0; i < w->n_in && status == 0; i++) {
        int lane = w->in[i].consumer % 32;
        if (w->in[i].channel == WIRE_BELL && t->give[lane] > 0) {
            t->give[lane]--;
            (*ret)[(*ret_n)++] = w->in[i];
        } else {
            w->in[kept++] = w->in[i];
        }
    }
    w->n_in = status == 0 ? kept : w->n_in;
    wire_begin(w);
    for (int i = 0; i < LANES && status == 0; i++)
        for (uint32_t j = 0; j < t->give[i] && status == 0; j++)
            status = wire_ask_get(w, WIRE_WORK, place_lane(q, i, name));
    if (status == 0)
        status = wire_wait(w);
    if (status == 0)
        wire_pick(w, WIRE_WORK, *ret, ret_n);
    return rmq_tell(q, status);
}

/* ===== with a key ===== */

/* While others wait, at most half, and none before those of a higher priority. */
static int take_keyed(struct taking *t)
{
    size_t most = t->want->most, above = 0, others = t->ready[LANE_RETRY];

    if (t->want->alone && t->ready[LANE_SUSPECT] > 0)
        return 0;
    if (t->want->alone && tracks_suspects(t->q)) {
        t->suspect = true;
        return tracks_take_suspect(t->q, t->ret, &t->n);
    }
    for (int i = 0; i < LANE_RETRY; i++)
        *(i < LANE_NORMAL ? &above : &others) += t->ready[i];
    most = above < most ? most - above : 0;
    if (others > 0 && others >= most / 2)
        most -= most / 2;
    else
        most -= others;
    return tracks_take(t->q, t->ret, &t->n, most, t->want->retries);
}

/* ===== what has come ===== */

static int accept(struct taking *t, struct wire_in *in)
{
    struct queue_message *m = in->message;

    if (m->queued_ms <= 0)
        m->queued_ms = rmq_now_ms();
    if (m->due_ms <= 0)
        m->due_ms = m->queued_ms;
    if (hand_add(t->q, m, in->channel, in->tag) != 0)
        return rmq_no_memory(t->q);
    t->ret[t->n++] = m;
    in->message = NULL;
    return 0;
}

/* Published elsewhere; it is acknowledged once that is confirmed. */
static void move(struct taking *t, struct wire_in *in)
{
    t->moved[t->n_moved++] = *in;
    in->message = NULL;
    in->tail = NULL;
}

/* A message without an id gets one, and comes again: the id must be the same however
 * often it is delivered, or a handler could not know it again. One with a key, from a
 * foreign producer, goes to where its order is kept. */
static int adopt(struct taking *t, struct wire_in *in)
{
    struct copy c = copy_of(in->message);
    char id[QUEUE_ID_MAX + 1];

    queue_make_id(id);
    if (!in->named)
        c.id = id;
    c.deliveries--;
    if (c.queued_ms <= 0)
        c.queued_ms = rmq_now_ms();
    int status = place_publish(t->q, &c, place_of(t->q, &c), 0);
    t->q->asked_ns[place_of(t->q, &c)] = 0;
    t->q->tracks_asked = true;
    move(t, in);
    return status;
}

/* It was delivered before: to us, or to another worker that is not known to be dead. */
static int check_owner(struct taking *t, struct wire_in *in)
{
    struct rmq *q = t->q;
    struct rmq_hand *h = hand_unattached(q, in->message);
    char name[RMQ_NAME];
    uint64_t token = 0;

    if (h) {
        hand_attach(h, in->channel, in->tag);
        return 0;
    }
    if (hand_was_settled(q, in->message)) {
        move(t, in);
        return 0;
    }
    if (!t->has_lists) {
        int status = lists_read_well(q, &t->lists, 0, q->n_slots, q->slot);
        if (status != 0)
            return status;
        t->has_lists = true;
    }
    int slot = lists_find(&t->lists, in->message, &token);
    if (slot < 0)
        return accept(t, in);
    struct copy c = copy_of(in->message);
    c.deliveries--;
    c.token = token;
    int status = copy_publish(&q->wire, "", place_slot(q, slot, name), &c);
    move(t, in);
    return status;
}

/* ===== what flows ===== */

/* A lane with much in it, while we take much, again and again. Not beside keys: what they
 * may have depends on what waits elsewhere. */
static int begin_flow(struct taking *t)
{
    struct rmq *q = t->q;
    size_t most = t->want->most, bytes = 0;

    if (t->now - q->take_ns > QUICK_NS || q->flow >= 0 || q->keyed || most < FLOW_LEAST ||
        most > FLOW_MOST || t->n < most)
        return 0;
    for (size_t i = 0; i < t->n; i++)
        bytes += t->ret[i]->body_len;
    if (bytes > FLOW_BYTES)
        return 0;
    q->flow_ns = t->now;
    q->flow_tag = 0;
    q->flow_takes = 0;
    for (int i = 0; i < LANE_RETRY; i++)
        if (t->give[i] > most / 2 && t->ready[i] - t->give[i] >= most && !q->bell_of[i])
            return bell_flow(q, i, 2 * most);
    return 0;
}

/* Is something of the lane left that was there when this was asked last? Not asked again
 * too soon: a server may hesitate. */
static bool stands_still(struct taking *t)
{
    struct rmq *q = t->q;
    uint64_t oldest = UINT64_MAX, newest = 0;

    if (++q->flow_takes < FLOW_TAKES || t->now - q->flow_ns < FLOW_NS)
        return false;
    for (size_t i = 0; i < q->wire.n_in; i++) {
        const struct wire_in *in = &q->wire.in[i];
        if (in->channel != WIRE_BELL || in->consumer % 32 != q->flow)
            continue;
        oldest = in->tag < oldest ? in->tag : oldest;
        newest = in->tag > newest ? in->tag : newest;
    }
    bool still = oldest <= q->flow_tag;
    q->flow_ns = t->now;
    q->flow_tag = newest;
    q->flow_takes = 0;
    return still;
}

/* What came must not lie here while we are slow, or while others go first. */
static int end_flow(struct taking *t)
{
    struct rmq *q = t->q;

    if (q->flow < 0)
        return 0;
    bool empty = t->rung[q->flow] == 0 && t->behind == 0;
    return empty || q->keyed || stands_still(t) ? bell_ebb(q) : 0;
}

/* ===== all of them ===== */

static int sort(struct taking *t, struct wire_in *in, size_t n)
{
    int status = 0;

    t->moved = calloc(n + 1, sizeof *t->moved);
    if (!t->moved)
        return rmq_no_memory(t->q);
    for (size_t i = 0; i < n && status == 0; i++)
        if (*in[i].message->key)
            status = place_make_tracks(t->q);
    wire_begin(&t->q->wire);
    for (size_t i = 0; i < n && status == 0; i++)
        status = in[i].hello        ? (move(t, &in[i]), 0)
                 : !in[i].named || *in[i].message->key
                     ? adopt(t, &in[i])
                 : in[i].redelivered ? check_owner(t, &in[i])
                                     : accept(t, &in[i]);
    if (status == 0 && t->n > 0)
        status = hand_publish(t->q);
    if (status == 0 && t->n > 0)
        status = proof_say(t->q);
    if (status == 0)
        status = begin_flow(t);
    if (status == 0)
        status = settle_ask(t->q);
    if (status == 0)
        status = wire_wait(&t->q->wire);
    if (status == 0)
        settle_heard(t->q);
    for (size_t i = 0; i < t->n_moved && status == 0; i++)
        status = wire_ack(&t->q->wire, t->moved[i].channel, t->moved[i].tag);
    if (status == 0 && t->n > 0)
        status = proof_wait(t->q);
    return rmq_tell(t->q, status);
}

/* Nothing has begun: the server takes all of it back. */
static void undo(struct taking *t)
{
    for (size_t i = 0; i < t->n; i++) {
        hand_drop(t->q, hand_find(t->q, t->ret[i]->token));
        queue_message_free(t->ret[i]);
    }
    t->n = 0;
    wire_drop(&t->q->wire);
}

/* ===== the verb ===== */

/* Bells that have rung are used up: their consumers wait until what they brought is
 * acknowledged. */
static int silence_rung(struct taking *t)
{
    int status = 0;

    for (int i = 0; i < LANES && status == 0; i++)
        if (t->rung[i] > 0 && t->q->bell_of[i] && i != t->q->flow)
            status = bell_silence(t->q, i);
    return status;
}

static void say_when(struct taking *t)
{
    struct rmq *q = t->q;
    bool more = t->n_moved > 0 || t->behind > 0;

    more |= tracks_more(q);
    for (int i = 0; i < LANE_SUSPECT; i++)
        more |= t->ready[i] > t->give[i] + t->rung[i];
    if (q->due_ns <= t->now)
        q->due_ns = BIDE_FOREVER;
    t->want->n = t->n;
    t->want->suspects =
        t->ready[LANE_SUSPECT] > (t->n && t->ret[0]->suspect && !t->suspect ? 1 : 0) ||
        tracks_suspects(q);
    t->want->next_ns = t->n == t->want->most || more ? 0
                       : q->due_ns == BIDE_FOREVER   ? BIDE_FOREVER
                                                     : q->due_ns - t->now;
    q->hungry = t->n < t->want->most;
}

int rmq_take(struct broker *b, struct broker_take *want, struct queue_message **ret)
{
    struct taking t = { .q = (struct rmq *)b, .want = want, .ret = ret };
    struct wire_in *in = NULL;
    size_t n = 0;
    int status = rmq_ready(t.q);

    if (status != 0)
        return status;
    t.now = bide_now_ns();
    status = rmq_tell(t.q, ask_lanes(&t));
    if (status == 0)
        status = rmq_tell(t.q, tracks_turn(t.q));
    if (status == 0)
        status = rmq_tell(t.q, take_keyed(&t));
    if (status == 0 && !t.suspect)
        status = rmq_tell(t.q, silence_rung(&t));
    if (status == 0 && !t.suspect)
        status = fetch(&t, &in, &n);
    if (status == 0)
        status = rmq_tell(t.q, end_flow(&t));
    if (status == 0 && n + t.n > 0)
        status = sort(&t, in, n);
    if (status == 0)
        say_when(&t);
    else
        undo(&t);
    for (size_t i = 0; i < n; i++)
        wire_in_free(&in[i]);
    for (size_t i = 0; i < t.n_moved; i++)
        wire_in_free(&t.moved[i]);
    free(in);
    free(t.moved);
    lists_free(&t.lists);
    t.q->take_ns = bide_now_ns();
    return status;
}
