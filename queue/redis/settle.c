/* Settling: done in few commands, the rest one by one, each batch one script. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "queue/redis/deliver.h"
#include "queue/redis/session.h"

static bool all_done(const struct broker_end *ends, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ends[i].how != BROKER_DONE)
            return false;
    return true;
}

static void put_end(struct redis_broker *q, const struct broker_end *e)
{
    const struct queue_message *m = e->message;
    char errors[QUEUE_ERRORS_MAX + 1];
    bool more = e->how != BROKER_DONE && e->error;

    if (more)
        queue_errors_add(errors, m->errors, rq_now_ms(q), m->attempt + 1,
                         e->error);
    redis_arg(q->redis, m->handle);
    redis_arg_int(q->redis, (int64_t)m->token);
    redis_arg_int(q->redis, e->how == BROKER_DONE    ? 0
                            : e->how == BROKER_AGAIN ? 1
                                                     : 2);
    redis_arg_int(q->redis, e->delay_ns / 1000);
    redis_arg_int(q->redis, e->counts);
    redis_arg_int(q->redis, e->ran);
    redis_arg(q->redis, more ? errors : m->errors);
    redis_arg(q->redis, e->reason ? e->reason : "");
    redis_arg(q->redis, e->cls ? e->cls : "");
    redis_arg_bytes(q->redis, e->tail, e->tail ? e->tail_len : 0);
}

/* The usual batch: all of them done, entries of one stream, without key or a
 * producer's id. */
static bool is_plain(const struct broker_end *ends, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct queue_message *m = ends[i].message;
        if (ends[i].how != BROKER_DONE || m->handle[0] != 's' || *m->key ||
            m->priority != ends[0].message->priority)
            return false;
    }
    return n > 0;
}

static int send_plain(struct redis_broker *q, const struct broker_end *ends,
                      size_t n)
{
    int status = rq_begin(q, "plain", (unsigned)(2 + n));

    if (status != 0)
        return status;
    redis_arg_int(q->redis, strtol(ends[0].message->handle + 1, NULL, 10));
    redis_arg_int(q->redis, (int64_t)n);
    for (size_t i = 0; i < n; i++)
        redis_arg(q->redis, strchr(ends[i].message->handle, '/') + 1);
    return 0;
}

static int send(struct redis_broker *q, const struct broker_end *ends, size_t n)
{
    if (is_plain(ends, n))
        return send_plain(q, ends, n);
    bool done = all_done(ends, n);
    int status = rq_begin(q, done ? "done" : "settle",
                          (unsigned)(2 + (done ? 4 : 10) * n));

    if (status != 0)
        return status;
    redis_arg(q->redis, q->worker);
    redis_arg_int(q->redis, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        if (!done) {
            put_end(q, &ends[i]);
            continue;
        }
        redis_arg(q->redis, ends[i].message->handle);
        redis_arg_int(q->redis, (int64_t)ends[i].message->token);
        redis_arg(q->redis, ends[i].message->id);
        redis_arg(q->redis, ends[i].message->key);
    }
    return 0;
}

int rq_settle(struct broker *b, struct broker_end *ends, size_t n)
{
    struct redis_broker *q = (struct redis_broker *)b;
    int status = send(q, ends, n);

    return status == 0 ? rq_end_settle(q, ends, n) : status;
}
