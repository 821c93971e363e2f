/* Slots: claiming one, finding the others, and what comes in. */
#include "queue/rabbitmq/slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/hold_clock.h"
#include "queue/rabbitmq/hand.h"
#include "queue/rabbitmq/proof.h"
#include "queue/rabbitmq/track.h"

#define S INT64_C(1000000000)
#define BACK_NS (5 * S)     /* until what was in hand is given up for lost */

#define NEWS_KEYS "keys" /* there will be some */

enum { BATCH = 16, HEADS_MOST = 4096 };

/* ===== claiming ===== */

static int declare(struct rmq *q, int slot)
{
    char name[RMQ_NAME];
    amqp_table_entry_t newest = { wire_bytes("x-max-length"),
                                  { .kind = AMQP_FIELD_KIND_I64, .value.i64 = 1 } };
    int status = place_declare(q, WIRE_SLOT, place_slot(q, slot, name),
                               amqp_empty_table);

    return status == 0 ? place_declare(q, WIRE_SLOT, place_list(q, slot, name),
                                       (amqp_table_t){ 1, &newest })
                       : status;
}

/* 1: we have it; 0: we have not; or a status. */
static int consume(struct rmq *q, int slot)
{
    char name[RMQ_NAME];
    amqp_basic_consume_t m = { .queue = wire_bytes(place_slot(q, slot, name)),
                               .consumer_tag = wire_bytes("0"),
                               .exclusive = 1 };

    int status = wire_send(&q->wire, WIRE_SLOT, AMQP_BASIC_CONSUME_METHOD, &m, true);
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status != 0)
        return status;
    if (!q->wire.refused)
        return 1;
    return wire_reopen(&q->wire, WIRE_SLOT);
}

/* As above. `again`: it may hold what we left there. */
static int claim(struct rmq *q, int slot, bool again)
{
    wire_begin(&q->wire);
    int status = declare(q, slot);

    if (status == 0)
        status = wire_wait(&q->wire);
    if (status == 0 && q->wire.refused)
        status = wire_fail(&q->wire, BROKER_REFUSED, "%.250s", q->wire.why);
    if (status != 0)
        return status;
    if (q->wire.queues[0].consumers > 0 ||
        (!again && (q->wire.queues[0].messages > 0 || q->wire.queues[1].messages > 0)))
        return 0;
    return consume(q, slot);
}

/* What lies in our slot: the list is ours, that of another worker, or there is none; or
 * a status. */
enum { NO_LIST, LIST_OF_ANOTHER, OUR_LIST };

static int whose_list(struct rmq *q)
{
    struct lists l = { NULL, 0 };
    int status = lists_read_well(q, &l, q->slot, q->slot + 1, -1);
    size_t len = strlen(q->worker);

    if (status == 0 && l.n > 0)
        status = strncmp((const char *)l.items[0].message->body, q->worker, len) == 0
                     ? OUR_LIST
                     : LIST_OF_ANOTHER;
    lists_free(&l);
    return status;
}

/* Rescuers wait for half a lease, and count from when the server had lost us. */
static bool may_be_rescued(const struct rmq *q)
{
    return hold_clock_ns() - q->alive_ns >= q->lease_ns / 2;
}

/* The server may still be busy with the end of a connection, ours or of somebody who
 * reads: then that consumes our slot, or holds the list. 1: for too long. */
static int wait_until_clear(struct rmq *q)
{
    int64_t now = bide_now_ns();

    if (!q->unclear_ns)
        q->unclear_ns = now;
    return now - q->unclear_ns >= BACK_NS
               ? 1
               : wire_fail(&q->wire, BROKER_DOWN,
                           "waits for the end of its former connection");
}

/* As claim(). 0: somebody has rescued what we held, or will. */
static int claim_former(struct rmq *q)
{
    int got = claim(q, q->slot, true);
    bool claimed = got == 1;

    if (claimed)
        got = whose_list(q);
    if (got < 0)
        return got;
    if (q->n_hand > 0 && (!claimed || got == NO_LIST) && !may_be_rescued(q)) {
        int status = wait_until_clear(q);
        if (status < 0)
            return status;
        got = claimed ? OUR_LIST : got; /* nobody else can have taken it away */
    }
    q->unclear_ns = 0;
    if (claimed && got == OUR_LIST)
        return 1;
    hand_drop_unkeyed(q);
    return wire_reopen(&q->wire, WIRE_SLOT);
}

static int tell_others(struct rmq *q, const char *body)
{
    char name[RMQ_NAME];
    amqp_table_entry_t hello = { wire_bytes("bide-hello"),
                                 { .kind = AMQP_FIELD_KIND_BOOLEAN,
                                   .value.boolean = 1 } };
    amqp_basic_properties_t p = { ._flags = AMQP_BASIC_HEADERS_FLAG,
                                  .headers = { 1, &hello } };
    int status = 0;

    wire_begin(&q->wire);
    for (int i = 0; i < q->n_slots && status == 0; i++)
        if (i != q->slot)
            status = wire_publish(&q->wire, "", place_slot(q, i, name), &p,
                                  body, strlen(body));
    return status == 0 ? wire_wait(&q->wire) : status;
}

int slot_count(struct rmq *q)
{
    char name[RMQ_NAME];
    int there = 1;

    while (q->n_slots < SLOTS &&
           (there = place_exists(q, place_slot(q, q->n_slots, name))) == 1)
        q->n_slots++;
    return there < 0 ? there : 0;
}

int slot_tell_keys(struct rmq *q)
{
    int status = slot_count(q);

    return status == 0 ? tell_others(q, NEWS_KEYS) : status;
}

int slot_alive(struct rmq *q, bool alive[SLOTS])
{
    const int most = (int)(sizeof q->wire.queues / sizeof q->wire.queues[0]);
    char name[RMQ_NAME];
    int n = q->n_slots < most ? q->n_slots : most, status = 0;

    wire_begin(&q->wire);
    for (int i = 0; i < n && status == 0; i++)
        status = wire_ask_queue(&q->wire, WIRE_LOOK, place_slot(q, i, name));
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status == 0 && q->wire.refused)
        return wire_reopen(&q->wire, WIRE_LOOK);
    for (int i = 0; i < n && status == 0; i++)
        alive[i] = q->wire.queues[i].consumers > 0;
    return status;
}

/* `arg` is the last tag that was seen. */
static bool attach(struct rmq *q, struct wire_in *in, void *arg)
{
    struct rmq_hand *h =
        in->redelivered ? hand_unattached(q, in->message) : NULL;

    *(uint64_t *)arg = in->tag;
    if (h)
        hand_attach(h, in->channel, in->tag);
    return false;
}

static bool is_attached(const struct rmq *q, uint64_t tag)
{
    for (size_t i = 0; i < q->n_hand; i++)
        if (q->hand[i].attached && q->hand[i].channel == WIRE_WORK &&
            q->hand[i].tag == tag)
            return true;
    return false;
}

/* On a channel that has delivered nothing else. */
static int find_ours(struct rmq *q)
{
    uint64_t last = 0;
    int status = slot_heads(q, WIRE_WORK, attach, &last);

    for (uint64_t tag = 1; tag <= last && status == 0; tag++)
        if (!is_attached(q, tag))
            status = wire_requeue(&q->wire, WIRE_WORK, tag);
    return status;
}

int slot_claim(struct rmq *q)
{
    int got = 0;

    for (int i = 0; i < TRACKS; i++)
        proof_detach(q, i);
    for (size_t i = 0; i < q->n_hand; i++)
        q->hand[i].attached = q->hand[i].ending = false;
    if (q->slot >= 0 && (got = claim_former(q)) < 0)
        return got;
    q->listed_wrong = true;
    if (got == 1) {
        q->lost_ns = bide_now_ns() + BACK_NS;
        return find_ours(q);
    }
    for (int i = 0; i < SLOTS && got == 0; i++)
        if ((got = claim(q, i, false)) == 1)
            q->slot = i;
    if (got <= 0)
        return got < 0 ? got
                       : wire_fail(&q->wire, BROKER_REFUSED,
                                   "there are %d workers already", SLOTS);
    if (q->n_slots <= q->slot)
        q->n_slots = q->slot + 1;
    char body[16];
    int status = place_make_last(q, q->url.quorum); /* not the list */
    if (status == 0)
        status = slot_count(q);
    snprintf(body, sizeof body, "%d", q->slot);
    return status == 0 ? tell_others(q, body) : status;
}

/* ===== what comes in ===== */

/* One that is no longer in hand goes back to the others. */
static int received(struct rmq *q, struct wire_in *in)
{
    struct rmq_hand *h = in->token ? hand_find(q, in->token)
                                   : hand_unattached(q, in->message);
    int status = 0;

    if (in->hello && strcmp((const char *)in->message->body, NEWS_KEYS) == 0) {
        tracks_expect(q);
    } else if (in->hello) {
        int slot = atoi((const char *)in->message->body);
        q->n_slots = slot >= q->n_slots && slot < SLOTS ? slot + 1 : q->n_slots;
        q->tracks_ns = 0; /* it gets some */
    } else if (h) {
        if (h->attached)
            status = wire_ack(&q->wire, h->channel, h->tag);
        hand_attach(h, in->channel, in->tag);
        return status;
    } else if (!hand_was_settled(q, in->message)) {
        struct copy c = copy_of(in->message);
        wire_begin(&q->wire);
        status = place_publish(q, &c, place_of(q, &c), 0);
        if (status == 0)
            status = wire_wait(&q->wire);
    }
    return status == 0 ? wire_ack(&q->wire, in->channel, in->tag) : status;
}

int slot_receive(struct rmq *q)
{
    struct wire_in in;
    int status = 0;

    for (size_t i = 0; i < q->wire.n_in && status == 0;) {
        if (q->wire.in[i].channel != WIRE_SLOT) {
            i++;
            continue;
        }
        in = q->wire.in[i];
        memmove(&q->wire.in[i], &q->wire.in[i + 1],
                (--q->wire.n_in - i) * sizeof in);
        status = received(q, &in);
        wire_in_free(&in);
        i = 0;
    }
    return status;
}

/* With a key it stays in its track, which does this by itself. */
int slot_renew(struct rmq *q)
{
    char name[RMQ_NAME];
    int64_t now = bide_now_ns();
    int status = 0;

    wire_begin(&q->wire);
    for (size_t i = 0; i < q->n_hand && status == 0; i++) {
        struct rmq_hand *h = &q->hand[i];
        if (!h->attached || h->track >= 0 || now - h->since_ns < q->renew_ns)
            continue;
        struct copy c = copy_of(h->message);
        c.deliveries--;
        c.token = h->token;
        h->since_ns = now;
        status = copy_publish(&q->wire, "", place_slot(q, q->slot, name), &c);
    }
    return status == 0 ? wire_wait(&q->wire) : status;
}

/* ===== the heads of the lanes ===== */

/* How many of a batch were delivered before; then the lane goes on. */
static int look_at(struct rmq *q, int lane, int channel, slot_head *fn, void *arg)
{
    char name[RMQ_NAME];
    size_t n = 0;
    int before = 0, status = 0;

    wire_begin(&q->wire);
    place_lane(q, lane, name);
    for (int i = 0; i < BATCH && status == 0; i++)
        status = wire_ask_get(&q->wire, channel, name);
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status != 0)
        return status;
    struct wire_in *all = calloc(q->wire.n_in + 1, sizeof *all);
    if (!all)
        return wire_fail(&q->wire, BROKER_NO_MEMORY, "out of memory");
    wire_pick(&q->wire, channel, all, &n);
    for (size_t i = 0; i < n; i++) {
        before += all[i].redelivered;
        if (!fn(q, &all[i], arg))
            wire_in_free(&all[i]);
    }
    free(all);
    return before;
}

int slot_heads(struct rmq *q, int channel, slot_head *fn, void *arg)
{
    char name[RMQ_NAME];
    uint32_t ready[LANES];

    wire_begin(&q->wire);
    int status = 0;
    for (int i = 0; i < LANES && status == 0; i++)
        status = wire_ask_queue(&q->wire, channel, place_lane(q, i, name));
    if (status == 0)
        status = wire_wait(&q->wire);
    for (int i = 0; i < LANES; i++)
        ready[i] = q->wire.queues[i].messages;
    for (int i = 0; i < LANES && status == 0; i++)
        for (int got = BATCH, sum = 0; ready[i] > 0 && got == BATCH && sum < HEADS_MOST;
             sum += got)
            if ((got = look_at(q, i, channel, fn, arg)) < 0)
                return got;
    return status;
}
