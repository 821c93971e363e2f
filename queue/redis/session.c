/* Connecting, running the script, and what errors mean. */
#include "queue/redis/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/missing.h"
#include "queue/redis/look.h"
#include "queue/redis/script.h"

#define S INT64_C(1000000000)

/* Shorter than the 10 s in which a worker must be back. */
#define PATIENCE_NS (5 * S)

/* ===== what errors mean ===== */

static const struct {
    const char *word; /* with which the error begins */
    int status;
} meanings[] = {
    { "OOM", BROKER_FULL },
    { "MISCONF", BROKER_FULL }, /* the disk refuses: nothing is written */
    { "LOADING", BROKER_DOWN },
    { "READONLY", BROKER_DOWN }, /* a replica, until it is promoted */
    { "MASTERDOWN", BROKER_DOWN },
    { "BUSY", BROKER_DOWN }, /* a script of somebody's */
    { "TRYAGAIN", BROKER_DOWN },
    { "CLUSTERDOWN", BROKER_DOWN },
    { "NOREPLICAS", BROKER_DOWN },
    { "ERR max number of clients", BROKER_DOWN },
};

static int meaning_of(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        size_t n = strlen(meanings[i].word);
        if (len >= n && strncmp(text, meanings[i].word, n) == 0)
            return meanings[i].status;
    }
    return BROKER_REFUSED;
}

static int refused(struct redis_broker *q, const struct redis_reply *reply)
{
    return broker_fail(&q->b, meaning_of(reply->text, reply->len),
                       "redis: %.*s", (int)(reply->len < 300 ? reply->len : 300),
                       reply->text);
}

/* The connection is gone. A password that is wrong stays wrong. */
static int down(struct redis_broker *q)
{
    const char *why = redis_why(q->redis);
    bool forever = strstr(why, "WRONGPASS") || strstr(why, "NOAUTH") ||
                   strstr(why, "AUTH") || strstr(why, "NOPERM") ||
                   strstr(why, "DB index");

    q->doubt = true;
    return broker_fail(&q->b, forever ? BROKER_REFUSED : BROKER_DOWN,
                       "redis: %s", why);
}

/* ===== commands ===== */

int rq_answer(struct redis_broker *q, struct redis_reply *ret)
{
    if (redis_next(q->redis, bide_now_ns() + PATIENCE_NS, ret) != 0)
        return down(q);
    return ret->type == REDIS_ERROR ? refused(q, ret) : 0;
}

static int find_queue(struct redis_broker *q)
{
    struct redis_reply reply;

    redis_command(q->redis, 3);
    redis_arg(q->redis, q->create ? "SADD" : "SISMEMBER");
    redis_arg(q->redis, "bide:queues");
    redis_arg(q->redis, q->b.queue);
    int status = rq_answer(q, &reply);
    if (status != 0 || q->create || reply.integer == 1)
        return status;
    redis_command(q->redis, 2); /* a stream that somebody else has made */
    redis_arg(q->redis, "EXISTS");
    redis_arg(q->redis, q->b.queue);
    status = rq_answer(q, &reply);
    if (status == 0 && reply.integer == 0)
        status = queue_missing(&q->b, rq_names, "redis: there is no queue `%s`",
                               q->b.queue);
    return status;
}

int rq_ready(struct redis_broker *q)
{
    if (redis_connect(q->redis, bide_now_ns() + PATIENCE_NS) != 0)
        return down(q);
    if (redis_connection(q->redis) == q->known)
        return 0;
    int status = find_queue(q);
    if (status == 0)
        q->known = redis_connection(q->redis);
    return status;
}

/* ===== the script ===== */

int rq_begin(struct redis_broker *q, const char *verb, unsigned n)
{
    int status = rq_ready(q);

    if (status != 0)
        return status;
    q->script.text = rq_script;
    if (redis_script_load(q->redis, &q->script, bide_now_ns() + PATIENCE_NS) != 0)
        return down(q);
    redis_script_begin(q->redis, &q->script, 1, n + 1);
    redis_arg(q->redis, q->b.queue);
    redis_arg(q->redis, verb);
    return 0;
}

/* A server that was told to forget its scripts says so, and has done nothing:
 * the caller's next try loads it again. */
static int read_answer(struct redis_broker *q, struct redis_reply *ret)
{
    if (redis_next(q->redis, bide_now_ns() + PATIENCE_NS, ret) != 0)
        return down(q);
    if (ret->type != REDIS_ERROR)
        return 0;
    if (redis_script_gone(ret)) {
        redis_script_forget(&q->script);
        return broker_fail(&q->b, BROKER_DOWN, "redis: its scripts were flushed");
    }
    q->doubt = true; /* a script that failed half-way is not undone */
    return refused(q, ret);
}

/* 1 for each that was ours. */
static int read_settled(struct redis_broker *q)
{
    struct broker_end *ends = q->settling;
    struct redis_reply reply;
    int status = ends ? read_answer(q, &reply) : 0;

    q->settling = NULL;
    for (size_t i = 0; ends && status == 0 && i < q->n_settling; i++) {
        struct queue_message *m = ends[i].message;
        m->lost = rq_int(&reply, i) != 1;
        ends[i].result = m->lost ? BROKER_LOST : BROKER_SETTLED;
        rq_hands_drop(q, m->token);
    }
    return status;
}

int rq_end(struct redis_broker *q, struct redis_reply *ret)
{
    char why[BROKER_ERROR];
    int before = read_settled(q);

    if (before == 0)
        return read_answer(q, ret);
    /* What follows was sent with it, and may have been done. */
    memcpy(why, q->b.error, sizeof why);
    if (redis_is_connected(q->redis))
        (void)read_answer(q, ret);
    memcpy(q->b.error, why, sizeof why);
    q->doubt = true;
    return before;
}

int rq_end_settle(struct redis_broker *q, struct broker_end *ends, size_t n)
{
    q->settling = ends;
    q->n_settling = n;
    return q->grouped ? 0 : read_settled(q);
}

int rq_group_begin(struct broker *b)
{
    struct redis_broker *q = (struct redis_broker *)b;

    q->grouped = true;
    return 0;
}

int rq_group_commit(struct broker *b)
{
    struct redis_broker *q = (struct redis_broker *)b;

    q->grouped = false;
    return read_settled(q);
}

/* ===== in hand ===== */

int rq_hands_add(struct redis_broker *q, const struct queue_message *m)
{
    if (q->n_hands == q->hands_size) {
        size_t size = q->hands_size ? 2 * q->hands_size : 64;
        struct rq_hand *more = realloc(q->hands, size * sizeof *more);
        if (!more)
            return -1;
        q->hands = more;
        q->hands_size = size;
    }
    struct rq_hand *h = &q->hands[q->n_hands++];
    h->token = m->token;
    snprintf(h->handle, sizeof h->handle, "%s", m->handle);
    return 0;
}

void rq_hands_drop(struct redis_broker *q, uint64_t token)
{
    for (size_t i = 0; i < q->n_hands; i++)
        if (q->hands[i].token == token) {
            q->hands[i] = q->hands[--q->n_hands];
            return;
        }
}

/* ===== answers ===== */

int64_t rq_now_ms(const struct redis_broker *q)
{
    return bide_now_ns() / 1000000 + q->ahead_ms;
}

void rq_heard_now(struct redis_broker *q, int64_t now_us)
{
    q->ahead_ms = now_us / 1000 - bide_now_ns() / 1000000;
}

int64_t rq_int(const struct redis_reply *reply, size_t i)
{
    int64_t n = 0;

    if (reply->type == REDIS_ARRAY && i < reply->n)
        (void)redis_reply_int(&reply->items[i], &n);
    return n;
}
