/* A worker's own lease. */
#include "queue/redis/workers.h"

#include "queue/redis/session.h"

static void put_hands(struct redis_broker *q)
{
    redis_arg(q->redis, q->worker);
    redis_arg_int(q->redis, (int64_t)q->n_hands);
    for (size_t i = 0; i < q->n_hands; i++) {
        redis_arg(q->redis, q->hands[i].handle);
        redis_arg_int(q->redis, (int64_t)q->hands[i].token);
    }
}

int rq_settle_doubt(struct redis_broker *q)
{
    struct redis_reply reply;

    if (!q->doubt)
        return 0;
    int status = rq_begin(q, "disown", (unsigned)(2 + 2 * q->n_hands));
    if (status != 0)
        return status;
    put_hands(q);
    status = rq_end(q, &reply);
    if (status == 0)
        q->doubt = false;
    return status;
}

void rq_leave(struct redis_broker *q)
{
    struct redis_reply reply;

    if (!redis_is_connected(q->redis) || rq_begin(q, "leave", 1) != 0)
        return;
    redis_arg(q->redis, q->worker);
    (void)rq_end(q, &reply);
}

int rq_beat(struct broker *b, struct queue_message **running, size_t n)
{
    struct redis_broker *q = (struct redis_broker *)b;
    struct redis_reply reply;
    int status = rq_begin(q, "beat", (unsigned)(4 + 2 * q->n_hands + 2 * n));

    if (status != 0)
        return status;
    put_hands(q);
    redis_arg_int(q->redis, q->lease_us);
    redis_arg_int(q->redis, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        redis_arg(q->redis, running[i]->handle);
        redis_arg_int(q->redis, (int64_t)running[i]->token);
    }
    status = rq_end(q, &reply);
    if (status != 0)
        return status;
    for (size_t i = 0; i < n; i++) {
        if (rq_int(&reply, i) == 1)
            continue;
        running[i]->lost = true;
        rq_hands_drop(q, running[i]->token);
    }
    q->doubt = false;
    return 0;
}
