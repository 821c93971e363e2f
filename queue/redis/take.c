/* Taking: what the script has put into the hash of this worker. */
#include "bide/policy.h"
#include "queue/redis/deliver.h"
#include "queue/redis/put.h"
#include "queue/redis/session.h"
#include "queue/redis/workers.h"

enum { SUSPECTS, NEXT, NOW, TOKENS, FIRST };

/* Without memory for one of them all go back, with the next beat: they are not in
 * hand. */
static int read_all(struct redis_broker *q, const struct redis_reply *reply,
                    struct queue_message **ret, size_t n)
{
    size_t before = q->n_hands;

    for (size_t i = 0; i < n; i++) {
        ret[i] = rq_message(&reply->items[FIRST + i],
                            (uint64_t)rq_int(reply, TOKENS) + i);
        if (ret[i] && rq_hands_add(q, ret[i]) == 0)
            continue;
        queue_message_free(ret[i]);
        while (i > 0)
            queue_message_free(ret[--i]);
        q->n_hands = before;
        q->doubt = true;
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    }
    return 0;
}

int rq_take(struct broker *b, struct broker_take *want,
            struct queue_message **ret)
{
    struct redis_broker *q = (struct redis_broker *)b;
    struct redis_reply reply;
    int status = rq_settle_doubt(q);

    if (status == 0)
        status = rq_begin(q, "take", 6);
    if (status != 0)
        return status;
    redis_arg(q->redis, q->worker);
    redis_arg_int(q->redis, q->lease_us);
    redis_arg_int(q->redis, (int64_t)want->most);
    redis_arg_int(q->redis, (int64_t)want->retries);
    redis_arg_int(q->redis, want->alone);
    redis_arg_int(q->redis, q->ageing_us);
    status = rq_end(q, &reply);
    if (status != 0)
        return status;
    if (reply.type != REDIS_ARRAY || reply.n < FIRST ||
        reply.n - FIRST > want->most)
        return broker_fail(b, BROKER_CORRUPT, "redis: not an answer to take");
    status = read_all(q, &reply, ret, reply.n - FIRST);
    if (status != 0)
        return status;
    rq_heard_now(q, rq_int(&reply, NOW));
    int64_t next_us = rq_int(&reply, NEXT);
    want->n = reply.n - FIRST;
    want->suspects = rq_int(&reply, SUSPECTS) != 0;
    want->next_ns = want->n == want->most              ? 0
                    : next_us < 0                      ? BIDE_FOREVER
                    : next_us > INT64_MAX / 1000 ? INT64_MAX
                                                       : next_us * 1000;
    return 0;
}
