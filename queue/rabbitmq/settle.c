/* Settling: copies are published and confirmed, then what they replace is acknowledged,
 * and a last question shows that the server has heard it: at once, or, between begin() and
 * commit(), beside the list of the next take. Until then it stays in hand and in the list:
 * if the connection fails, whoever else is given it finds it there. */
#include "queue/rabbitmq/deliver.h"

#include <stdlib.h>

#include "bide/run.h"
#include "queue/rabbitmq/hand.h"
#include "queue/rabbitmq/proof.h"
#include "queue/rabbitmq/session.h"
#include "queue/rabbitmq/slot.h"
#include "queue/rabbitmq/track.h"

static int publish_end(struct rmq *q, const struct broker_end *e, char *errors,
                       int64_t now_ms)
{
    struct copy c = copy_of(e->message);
    const struct rmq_hand *h = hand_find(q, e->message->token);
    char name[RMQ_NAME];

    c.attempt += e->counts;
    c.suspect = c.suspect && !e->ran;
    if (e->error) {
        queue_errors_add(errors, e->message->errors, now_ms, e->message->attempt + 1,
                         e->error);
        c.errors = errors;
    }
    if (e->how == BROKER_AGAIN && h->track >= 0) {
        c.due_ms = now_ms + e->delay_ns / 1000000;
        c.seq = h->seq;
        c.wait = h->wait;
        return track_publish_held(q, &c);
    }
    if (e->how == BROKER_AGAIN) {
        c.due_ms = now_ms + e->delay_ns / 1000000;
        q->asked_ns[place_of(q, &c)] = 0;
        return place_publish(q, &c, place_of(q, &c), e->delay_ns);
    }
    c.reason = e->reason ? e->reason : "unknown";
    c.cls = e->cls;
    c.tail = e->tail;
    c.tail_len = e->tail_len;
    c.died_ms = now_ms;
    return copy_publish(&q->wire, "", place_dead(q, name), &c);
}

/* Alarms are confirmed before what they wake is there: it would wait forever. */
static int set_alarms(struct rmq *q, struct broker_end *ends, size_t n)
{
    int64_t now_ms = rmq_now_ms();
    bool any = false;
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i++) {
        struct rmq_hand *h = hand_find(q, ends[i].message->token);
        if (ends[i].result != BROKER_SETTLED || h->track < 0)
            continue;
        status = tracks_settle_begin(q, h);
    }
    wire_begin(&q->wire);
    for (size_t i = 0; i < n && status == 0; i++) {
        struct rmq_hand *h = hand_find(q, ends[i].message->token);
        if (ends[i].result != BROKER_SETTLED || h->track < 0)
            continue;
        struct copy c = copy_of(ends[i].message);
        c.attempt += ends[i].counts;
        c.due_ms = now_ms + ends[i].delay_ns / 1000000;
        c.seq = h->seq;
        h->wait = 0;
        if (ends[i].how == BROKER_AGAIN && ends[i].delay_ns > 0) {
            status = track_alarm(q, &c, ends[i].delay_ns, &h->wait);
            any = true;
        }
    }
    return rmq_tell(q, status == 0 && any ? wire_wait(&q->wire) : status);
}

/* Those that are ours, and not done, have their copies confirmed. */
static int publish_ends(struct rmq *q, struct broker_end *ends, size_t n)
{
    char *errors = malloc(QUEUE_ERRORS_MAX + 1);
    int64_t now_ms = rmq_now_ms();
    int status = 0;

    if (!errors)
        return rmq_no_memory(q);
    wire_begin(&q->wire);
    for (size_t i = 0; i < n && status == 0; i++)
        if (ends[i].result == BROKER_SETTLED && ends[i].how != BROKER_DONE)
            status = publish_end(q, &ends[i], errors, now_ms);
    free(errors);
    return rmq_tell(q, status == 0 ? wire_wait(&q->wire) : status);
}

/* What the connection that failed had, and has not come back, may still come. */
static int find_ends(struct rmq *q, struct broker_end *ends, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct rmq_hand *h = hand_find(q, ends[i].message->token);
        if (h && !h->attached && bide_now_ns() < q->lost_ns)
            return broker_fail(&q->b, BROKER_DOWN,
                               "rabbitmq: waits for what it held before the "
                               "connection failed");
        ends[i].result = h && h->attached ? BROKER_SETTLED : BROKER_LOST;
        ends[i].message->lost |= ends[i].result == BROKER_LOST;
    }
    return 0;
}

/* The last of those on a channel that end now, before which none goes on, and none waits
 * to be taken; 0: none. */
static uint64_t last_together(const struct rmq *q, uint16_t channel)
{
    uint64_t first = UINT64_MAX, last = 0;

    for (size_t i = 0; i < q->wire.n_in; i++)
        if (q->wire.in[i].channel == channel && q->wire.in[i].tag < first)
            first = q->wire.in[i].tag;
    for (size_t i = 0; i < q->n_hand; i++)
        if (q->hand[i].attached && q->hand[i].channel == channel &&
            !q->hand[i].ending && q->hand[i].tag < first)
            first = q->hand[i].tag;
    for (size_t i = 0; i < q->n_hand; i++)
        if (q->hand[i].ending && q->hand[i].channel == channel &&
            q->hand[i].tag < first && q->hand[i].tag > last)
            last = q->hand[i].tag;
    return last;
}

/* All that end now and came on a channel. */
static int acknowledge_on(struct rmq *q, uint16_t channel)
{
    amqp_basic_ack_t all = { .delivery_tag = last_together(q, channel), .multiple = 1 };
    int status = 0;

    if (all.delivery_tag) {
        status = wire_send(&q->wire, channel, AMQP_BASIC_ACK_METHOD, &all, false);
        q->unheard |= 1u << channel;
    }
    for (size_t i = 0; i < q->n_hand && status == 0; i++)
        if (q->hand[i].ending && q->hand[i].channel == channel &&
            q->hand[i].tag > all.delivery_tag) {
            status = wire_ack(&q->wire, channel, q->hand[i].tag);
            q->unheard |= 1u << channel;
        }
    return status;
}

static int acknowledge(struct rmq *q, struct broker_end *ends, size_t n)
{
    int status = 0;

    for (size_t i = 0; i < q->n_hand; i++)
        q->hand[i].ending = false;
    for (size_t i = 0; i < n; i++)
        if (ends[i].result == BROKER_SETTLED) {
            struct rmq_hand *h = hand_find(q, ends[i].message->token);
            h->ending = true;
            h->queued_ms = ends[i].message->queued_ms;
        }
    q->unheard_on = q->wire.number;
    wire_begin(&q->wire);
    status = acknowledge_on(q, WIRE_WORK);
    if (status == 0)
        status = acknowledge_on(q, WIRE_BELL);
    for (size_t i = 0; i < q->n_hand && status == 0; i++)
        if (q->hand[i].ending && q->hand[i].channel != WIRE_WORK &&
            q->hand[i].channel != WIRE_BELL) {
            status = wire_ack(&q->wire, q->hand[i].channel, q->hand[i].tag);
            q->unheard |= 1u << WIRE_WORK;
        }
    return rmq_tell(q, status);
}

/* ===== what was acknowledged is heard ===== */

int settle_ask(struct rmq *q)
{
    int status = 0;

    if (q->unheard && q->unheard_on != q->wire.number)
        return wire_fail(&q->wire, BROKER_DOWN, "the connection failed meanwhile");
    for (int i = WIRE_WORK; i <= WIRE_BELL && status == 0; i++)
        if (q->unheard >> i & 1)
            status = wire_ask_queue(&q->wire, i, q->b.queue);
    return status;
}

static void settle_done(struct rmq *q)
{
    q->acked |= q->unheard != 0;
    q->unheard = 0;
}

void settle_heard(struct rmq *q)
{
    for (size_t i = q->n_hand; q->unheard && i-- > 0;)
        if (q->hand[i].ending)
            hand_settled(q, &q->hand[i], q->hand[i].queued_ms);
    settle_done(q);
}

static int ask_and_wait(struct rmq *q)
{
    if (!q->unheard)
        return 0;
    wire_begin(&q->wire);
    int status = settle_ask(q);
    return rmq_tell(q, status == 0 ? wire_wait(&q->wire) : status);
}

int settle_wait(struct rmq *q)
{
    int status = ask_and_wait(q);

    if (status == 0)
        settle_heard(q);
    return status;
}

int rmq_begin(struct broker *b)
{
    ((struct rmq *)b)->together = true;
    return 0;
}

/* It is settled again, on another connection. */
static void forget_unheard(struct rmq *q)
{
    if (q->unheard)
        wire_drop(&q->wire);
    q->unheard = 0;
}

int rmq_commit(struct broker *b)
{
    struct rmq *q = (struct rmq *)b;
    int status = settle_wait(q);

    forget_unheard(q);
    q->together = false;
    return status;
}

/* What ran when a connection failed is in tracks that may not be ours again yet. */
static int reclaim(struct rmq *q)
{
    for (size_t i = 0; i < q->n_hand; i++)
        if (q->hand[i].track >= 0 && !q->hand[i].attached) {
            int status = tracks_turn(q);
            return rmq_tell(q, status == 0 ? proof_wait(q) : status);
        }
    return 0;
}

/* All done, and without a key: nothing follows from it. */
static bool is_plain(struct rmq *q, const struct broker_end *ends, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct rmq_hand *h = hand_find(q, ends[i].message->token);
        if (ends[i].how != BROKER_DONE || (h && h->track >= 0))
            return false;
    }
    return true;
}

int rmq_settle(struct broker *b, struct broker_end *ends, size_t n)
{
    struct rmq *q = (struct rmq *)b;
    bool later = q->together && is_plain(q, ends, n);
    int status = rmq_ready(q);

    if (status == 0)
        status = settle_wait(q);
    if (status == 0)
        status = reclaim(q);
    if (status == 0)
        status = find_ends(q, ends, n);
    if (status == 0)
        status = set_alarms(q, ends, n);
    if (status == 0)
        status = publish_ends(q, ends, n);
    if (status == 0)
        status = acknowledge(q, ends, n);
    if (status == 0 && !later)
        status = ask_and_wait(q);
    for (size_t i = 0; i < n && status == 0; i++) {
        struct rmq_hand *h = hand_find(q, ends[i].message->token);
        if (h && ends[i].result == BROKER_SETTLED && h->track >= 0)
            (void)tracks_settled(q, h, ends[i].how == BROKER_AGAIN, h->wait);
        if (h && ends[i].result == BROKER_SETTLED && !later)
            hand_settled(q, h, ends[i].message->queued_ms);
        else if (h && ends[i].result == BROKER_LOST)
            hand_drop(q, h);
    }
    if (status != 0)
        forget_unheard(q);
    else if (!later)
        settle_done(q);
    return status;
}

int rmq_beat(struct broker *b, struct queue_message **running, size_t n)
{
    struct rmq *q = (struct rmq *)b;
    int status = rmq_ready(q);

    if (status == 0)
        status = settle_wait(q);
    if (status == 0)
        status = rmq_tell(q, proof_beat(q));
    if (status != 0)
        return status;
    for (size_t i = 0; i < n; i++) {
        struct rmq_hand *h = hand_find(q, running[i]->token);
        if (!h || (h->track >= 0 ? proof_is_over(h)
                                 : !h->attached && bide_now_ns() >= q->lost_ns))
            running[i]->lost = true;
    }
    return rmq_tell(q, slot_renew(q));
}
