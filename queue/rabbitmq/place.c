/* The queues, their names, and the way of a message that waits.
 *
 * A delay is a sum of powers of two. For each power there is a queue with that TTL, so
 * messages leave it in the order in which they came, and an exchange before it. The bits
 * of a message's delay are the words of its routing key:
 *
 *   exchange k --bit k is 1--> queue k, for 2^k tenths --> exchange k - 1
 *              --bit k is 0----------------------------> exchange k - 1
 *
 * and from exchange 0 into its lane, which is the last word. No queue is passed twice, and
 * nothing but the server's clock is needed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "queue/make_id.h"
#include "queue/rabbitmq/session.h"
#include "queue/rabbitmq/slot.h"
#include "queue/rabbitmq/track.h"

/* Who takes until so many are left has no time to wait. */
enum { MUCH = 1000 };

/* ===== names ===== */

const char *place_lane(const struct rmq *q, int lane, char to[RMQ_NAME])
{
    if (lane == LANE_NORMAL)
        snprintf(to, RMQ_NAME, "%s", q->b.queue);
    else if (lane == LANE_RETRY || lane == LANE_SUSPECT)
        snprintf(to, RMQ_NAME, "%s.%s", q->b.queue,
                 lane == LANE_RETRY ? "retry" : "suspect");
    else if (lane >= LANE_KEY)
        snprintf(to, RMQ_NAME, "%s.key.%d%s", q->b.queue, (lane - LANE_KEY) % TRACKS,
                 lane >= LANE_HELD ? ".held" : "");
    else
        snprintf(to, RMQ_NAME, "%s.priority.%d", q->b.queue,
                 QUEUE_PRIORITY_MAX - lane);
    return to;
}

const char *place_level(const struct rmq *q, int level, char to[RMQ_NAME])
{
    snprintf(to, RMQ_NAME, "%s.delay.%d", q->b.queue, level);
    return to;
}

const char *place_dead(const struct rmq *q, char to[RMQ_NAME])
{
    snprintf(to, RMQ_NAME, "%s.dead", q->b.queue);
    return to;
}

const char *place_slot(const struct rmq *q, int slot, char to[RMQ_NAME])
{
    snprintf(to, RMQ_NAME, "%s.worker.%d", q->b.queue, slot);
    return to;
}

const char *place_list(const struct rmq *q, int slot, char to[RMQ_NAME])
{
    snprintf(to, RMQ_NAME, "%s.worker.%d.hand", q->b.queue, slot);
    return to;
}

/* What exists when everything does, but for keys; */
static const char *place_all(const struct rmq *q, char to[RMQ_NAME])
{
    snprintf(to, RMQ_NAME, "%s.bide", q->b.queue);
    return to;
}

/* and when all of those does. */
static const char *place_keyed(const struct rmq *q, char to[RMQ_NAME])
{
    snprintf(to, RMQ_NAME, "%s.bide.keys", q->b.queue);
    return to;
}

static const char *place_due(const struct rmq *q, char to[RMQ_NAME])
{
    snprintf(to, RMQ_NAME, "%s.due", q->b.queue);
    return to;
}

int place_of(const struct rmq *q, const struct copy *c)
{
    return q->keyed && c->key && *c->key ? LANE_KEY + track_of(c->key)
           : c->suspect                  ? LANE_SUSPECT
           : c->attempt > 0              ? LANE_RETRY
                                         : QUEUE_PRIORITY_MAX - c->priority;
}

/* ===== declaring ===== */

static amqp_table_entry_t text_arg(const char *name, const char *value)
{
    return (amqp_table_entry_t){ wire_bytes(name),
                                 { .kind = AMQP_FIELD_KIND_UTF8,
                                   .value.bytes = wire_bytes(value) } };
}

static amqp_table_entry_t int_arg(const char *name, int64_t value)
{
    return (amqp_table_entry_t){ wire_bytes(name),
                                 { .kind = AMQP_FIELD_KIND_I64, .value.i64 = value } };
}

/* A quorum queue must not drop what was given back a few times, which servers of
 * version 4 do unless they are told. */
static int declare_queue(struct rmq *q, int channel, const char *queue, bool quorum,
                         amqp_table_t more)
{
    amqp_table_entry_t entries[8];
    amqp_queue_declare_t m = { .queue = wire_bytes(queue), .durable = 1 };
    int n = 0;

    for (; n < more.num_entries; n++)
        entries[n] = more.entries[n];
    if (quorum) {
        entries[n++] = text_arg("x-queue-type", "quorum");
        entries[n++] = int_arg("x-delivery-limit", 1000000000);
    }
    m.arguments = (amqp_table_t){ n, entries };
    return wire_send(&q->wire, channel, AMQP_QUEUE_DECLARE_METHOD, &m, true);
}

/* Of the type that the URL wants. */
int place_declare(struct rmq *q, int channel, const char *queue, amqp_table_t more)
{
    return declare_queue(q, channel, queue, q->url.quorum, more);
}

static int declare_exchange(struct rmq *q, const char *name)
{
    amqp_exchange_declare_t m = { .exchange = wire_bytes(name),
                                  .type = wire_bytes("topic"),
                                  .durable = 1 };

    return wire_send(&q->wire, WIRE_WORK, AMQP_EXCHANGE_DECLARE_METHOD, &m, true);
}

static int bind_queue(struct rmq *q, const char *exchange, const char *pattern,
                      const char *queue)
{
    amqp_queue_bind_t m = { .queue = wire_bytes(queue),
                            .exchange = wire_bytes(exchange),
                            .routing_key = wire_bytes(pattern) };

    return wire_send(&q->wire, WIRE_WORK, AMQP_QUEUE_BIND_METHOD, &m, true);
}

static int bind_exchange(struct rmq *q, const char *from, const char *pattern,
                         const char *to)
{
    amqp_exchange_bind_t m = { .destination = wire_bytes(to),
                               .source = wire_bytes(from),
                               .routing_key = wire_bytes(pattern) };

    return wire_send(&q->wire, WIRE_WORK, AMQP_EXCHANGE_BIND_METHOD, &m, true);
}

/* "*.*.1.#": the third word is 1. */
static const char *bit_pattern(char *to, int level, char bit)
{
    for (int i = 0; i < level; i++)
        memcpy(to + 2 * i, "*.", 2);
    snprintf(to + 2 * level, 4, "%c.#", bit);
    return to;
}

/* Always a quorum queue: only those move what has expired at least once. A classic
 * queue takes it out first, and a server that is killed then has lost it. */
static int declare_level(struct rmq *q, int level)
{
    char name[RMQ_NAME], next[RMQ_NAME], pattern[2 * LEVELS + 8];
    amqp_table_entry_t args[4];
    int n = 0;

    place_level(q, level, name);
    if (level > 0)
        place_level(q, level - 1, next);
    else
        place_due(q, next);
    args[n++] = int_arg("x-message-ttl", (INT64_C(1) << level) * 100);
    args[n++] = text_arg("x-dead-letter-exchange", next);
    args[n++] = text_arg("x-dead-letter-strategy", "at-least-once");
    args[n++] = text_arg("x-overflow", "reject-publish");
    int status = declare_exchange(q, name);
    if (status == 0)
        status = declare_queue(q, WIRE_WORK, name, true, (amqp_table_t){ n, args });
    if (status == 0)
        status = bind_queue(q, name, bit_pattern(pattern, level, '1'), name);
    return status == 0
               ? bind_exchange(q, name, bit_pattern(pattern, level, '0'), next)
               : status;
}

/* The last word of the routing key. */
static const char *word_of(int lane, char to[16])
{
    snprintf(to, 16, "lane%d", lane);
    return to;
}

/* Quorum queues, for what track.h needs of them. */
static int declare_track(struct rmq *q, int lane)
{
    char name[RMQ_NAME], due[RMQ_NAME], word[16], pattern[24];
    amqp_table_entry_t one = { wire_bytes("x-single-active-consumer"),
                               { .kind = AMQP_FIELD_KIND_BOOLEAN,
                                 .value.boolean = 1 } };
    int status = declare_queue(q, WIRE_WORK, place_lane(q, lane, name), true,
                               (amqp_table_t){ 1, &one });

    snprintf(pattern, sizeof pattern, "#.%s", word_of(lane, word));
    return status == 0 ? bind_queue(q, place_due(q, due), pattern, name) : status;
}

static int declare_lane(struct rmq *q, int lane)
{
    char name[RMQ_NAME], due[RMQ_NAME], word[16], pattern[24];
    amqp_table_entry_t sorted = int_arg("x-max-priority", 2 * QUEUE_PRIORITY_MAX);
    bool sorts = lane == LANE_RETRY && !q->url.quorum;
    int status = 0;

    place_lane(q, lane, name);
    snprintf(pattern, sizeof pattern, "#.%s", word_of(lane, word));
    if (lane != LANE_NORMAL)
        status = place_declare(q, WIRE_WORK, name,
                               (amqp_table_t){ sorts ? 1 : 0, &sorted });
    return status == 0 ? bind_queue(q, place_due(q, due), pattern, name) : status;
}

/* Is there a queue, an exchange? 1, 0, or a status. */
static int is_there(struct rmq *q, const char *queue, const char *exchange)
{
    amqp_exchange_declare_t m = { .exchange = wire_bytes(exchange ? exchange : ""),
                                  .passive = 1 };

    wire_begin(&q->wire);
    int status = queue ? wire_ask_queue(&q->wire, WIRE_LOOK, queue)
                       : wire_send(&q->wire, WIRE_LOOK, AMQP_EXCHANGE_DECLARE_METHOD, &m,
                                   true);
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status != 0 || !q->wire.refused)
        return status != 0 ? status : 1;
    int code = q->wire.refused;
    char why[sizeof q->wire.why];
    memcpy(why, q->wire.why, sizeof why);
    status = wire_reopen(&q->wire, WIRE_LOOK);
    if (status == 0 && code != WIRE_NOT_FOUND)
        status = wire_fail(&q->wire, code == WIRE_REFUSED ? BROKER_REFUSED : BROKER_DOWN,
                           "%s", why);
    return status;
}

int place_exists(struct rmq *q, const char *queue)
{
    return is_there(q, queue, NULL);
}

static int make_queue(struct rmq *q, const char *name)
{
    int there = is_there(q, name, NULL);

    if (there != 0)
        return there < 0 ? there : 0;
    wire_begin(&q->wire);
    int status = place_declare(q, WIRE_WORK, name, amqp_empty_table);
    return status == 0 ? wire_wait(&q->wire) : status;
}

int place_make_last(struct rmq *q, bool quorum)
{
    char name[RMQ_NAME], id[QUEUE_ID_MAX + 1];
    amqp_table_entry_t soon =
        int_arg("x-expires", 60000); /* should we die before */
    amqp_queue_delete_t m = { .queue = wire_bytes(name) };

    queue_make_id(id);
    snprintf(name, sizeof name, "%.80s.bide.%.32s", q->b.queue, id);
    wire_begin(&q->wire);
    int status =
        declare_queue(q, WIRE_WORK, name, quorum, (amqp_table_t){ 1, &soon });
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status == 0)
        status =
            wire_send(&q->wire, WIRE_WORK, AMQP_QUEUE_DELETE_METHOD, &m, true);
    return status == 0 ? wire_wait(&q->wire) : status;
}

static int make_all(struct rmq *q)
{
    char name[RMQ_NAME];
    int status = make_queue(q, place_dead(q, name));

    wire_begin(&q->wire);
    if (status == 0)
        status = declare_exchange(q, place_due(q, name));
    for (int i = 0; i < LANES && status == 0; i++)
        status = declare_lane(q, i);
    for (int i = 0; i < LEVELS && status == 0; i++)
        status = declare_level(q, i);
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status == 0)
        status = place_make_last(q, true);
    wire_begin(&q->wire);
    if (status == 0)
        status = declare_exchange(q, place_all(q, name));
    return status == 0 ? wire_wait(&q->wire) : status;
}

int place_find_tracks(struct rmq *q)
{
    char name[RMQ_NAME];
    int there = q->keyed ? 1 : is_there(q, NULL, place_keyed(q, name));

    q->keyed = there == 1;
    return there < 0 ? there : 0;
}

/* The workers are told before the exchange is there, after which nobody does this again:
 * they look several times (track.c). */
static int declare_tracks(struct rmq *q)
{
    char name[RMQ_NAME];
    int status = 0;

    q->wire.declaring = true;
    wire_begin(&q->wire);
    for (int i = LANE_KEY; i < LANES_ALL && status == 0; i++)
        status = declare_track(q, i);
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status == 0)
        status = place_make_last(q, true);
    if (status == 0)
        status = slot_tell_keys(q);
    wire_begin(&q->wire);
    if (status == 0)
        status = declare_exchange(q, place_keyed(q, name));
    if (status == 0)
        status = wire_wait(&q->wire);
    q->wire.declaring = false;
    return status;
}

int place_make_tracks(struct rmq *q)
{
    int status = place_find_tracks(q);

    if (status == 0 && !q->keyed) {
        status = declare_tracks(q);
        q->keyed = status == 0;
        q->tracks_ns = 0;
    }
    return status;
}

int place_ready(struct rmq *q)
{
    char name[RMQ_NAME];
    int there = is_there(q, q->b.queue, NULL), status = 0;

    q->keyed = false;
    if (there == 0 && !q->create)
        return wire_fail(&q->wire, BROKER_REFUSED, "there is no queue `%s`",
                         q->b.queue);
    q->wire.declaring = true;
    if (there == 0)
        status = make_queue(q, q->b.queue);
    if (there >= 0 && status == 0)
        there = is_there(q, NULL, place_all(q, name));
    if ((there == 0 || (there == 1 && q->remake)) && status == 0)
        status = make_all(q);
    if (there >= 0 && status == 0)
        status = place_find_tracks(q);
    if (q->keyed && q->remake && status == 0)
        status = declare_tracks(q);
    q->remake &= status != 0;
    q->wire.declaring = false;
    return there < 0 ? there : status;
}

/* ===== publishing ===== */

int place_publish(struct rmq *q, const struct copy *c, int lane, int64_t delay_ns)
{
    char name[RMQ_NAME], word[16], key[2 * LEVELS + 16];
    const int64_t most = (INT64_C(1) << LEVELS) - 1;
    int64_t tenths = delay_ns <= 0 ? 0 : (delay_ns + RMQ_TENTH - 1) / RMQ_TENTH;
    int level = LEVELS - 1;

    if (tenths == 0)
        return copy_publish(&q->wire, "", place_lane(q, lane, name), c);
    if (tenths > most)
        tenths = most;
    for (int i = 0; i < LEVELS; i++) {
        key[2 * i] = tenths >> i & 1 ? '1' : '0';
        key[2 * i + 1] = '.';
    }
    snprintf(key + 2 * LEVELS, sizeof key - 2 * LEVELS, "%s", word_of(lane, word));
    while (!(tenths >> level & 1))
        level--;
    int64_t due = bide_now_ns() + delay_ns;
    q->due_ns = due < q->due_ns ? due : q->due_ns;
    return copy_publish(&q->wire, place_level(q, level, name), key, c);
}

int place_bury(struct rmq *q, struct copy *c)
{
    char name[RMQ_NAME], *errors = malloc(QUEUE_ERRORS_MAX + 1);

    if (!errors)
        return wire_fail(&q->wire, BROKER_NO_MEMORY, "out of memory");
    c->died_ms = rmq_now_ms();
    queue_errors_add(errors, c->errors, c->died_ms, c->attempt + 1,
                     "the worker died with it");
    c->errors = errors;
    c->reason = "crashed";
    c->cls = "permanent";
    int status = copy_publish(&q->wire, "", place_dead(q, name), c);
    free(errors);
    return status;
}

/* Somebody who consumes the queue and waits for a message would be given it: programs
 * that are not ours, most likely, since a worker does not wait while there is something.
 * While a lane flows to workers it has consumers; behind so much, none of them waits. */
static int find_unwatched(struct rmq *q, bool tick[LANES])
{
    char name[RMQ_NAME];
    int asked[LANES], n = 0, status = 0;

    wire_begin(&q->wire);
    for (int i = 0; i < LANES && status == 0; i++)
        if (q->used[i] && !q->asked_ns[i] && !(i == LANE_NORMAL && q->no_ticks)) {
            asked[n++] = i;
            status = wire_ask_queue(&q->wire, WIRE_WORK, place_lane(q, i, name));
        }
    if (status == 0)
        status = wire_wait(&q->wire);
    for (int i = 0; i < n && status == 0; i++)
        tick[asked[i]] = q->wire.queues[i].messages > 0 &&
                         (q->wire.queues[i].consumers == 0 ||
                          (asked[i] == q->flow && q->wire.queues[i].messages >= MUCH));
    return status;
}

int place_tick(struct rmq *q)
{
    char name[RMQ_NAME];
    amqp_table_entry_t hello = { wire_bytes("bide-hello"),
                                 { .kind = AMQP_FIELD_KIND_BOOLEAN,
                                   .value.boolean = 1 } };
    amqp_basic_properties_t p = { ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG |
                                            AMQP_BASIC_EXPIRATION_FLAG |
                                            AMQP_BASIC_HEADERS_FLAG,
                                  .delivery_mode = AMQP_DELIVERY_PERSISTENT,
                                  .expiration = wire_bytes("0"),
                                  .headers = { 1, &hello } };
    bool tick[LANES] = { false };

    if (!q->acked || q->url.quorum)
        return 0;
    int status = find_unwatched(q, tick);
    wire_begin(&q->wire);
    for (int i = 0; i < LANES && status == 0; i++)
        if (tick[i])
            status = wire_publish(&q->wire, "", place_lane(q, i, name), &p, "", 0);
    memset(q->used, 0, sizeof q->used);
    q->acked = false;
    if (status == 0)
        status = wire_wait(&q->wire);
    return status == BROKER_FULL && q->wire.c ? 0 : status; /* a queue that is full
                                                               has refused it */
}
