/* queue/redis/session.h: a queue on Redis Streams, and its connections.
 *
 *     struct redis_reply reply;
 *     int status = rq_begin(q, "redrive", 3);     // the verb, and 3 arguments:
 *     if (status == 0) {
 *         redis_arg(q->redis, "0");
 *         redis_arg_int(q->redis, 1);
 *         redis_arg(q->redis, id);
 *         status = rq_end(q, &reply);             // valid until the next verb
 *     }
 *
 * What the verbs do is in queue.lua: one script, one round trip, all or nothing,
 * and with `appendfsync always` on the disk before it is answered. Nothing here
 * decides about a message.
 *
 * A second connection waits in XREAD for streams to grow, so that messages that
 * anybody adds wake the worker. */
#ifndef BIDE_QUEUE_REDIS_SESSION_H
#define BIDE_QUEUE_REDIS_SESSION_H

#include "queue/broker.h"
#include "queue/hands.h"
#include "store/redis/redis.h"

/* Threads: owned. */
struct redis_broker {
    struct broker b;
    struct redis *redis;
    struct redis *bell;        /* XREAD BLOCK; NULL: only puts and looks */
    uint64_t bell_hangs;       /* the connection on which it was sent; 0: none */
    struct redis_script script;
    uint64_t known;            /* the connection on which the queue was found */
    int64_t lease_us, ageing_us;
    uint32_t max_deaths;
    bool create, consume;
    bool doubt;                /* an answer was lost: hands and server may differ */
    bool again;                /* there is more to take at once */
    char worker[40];
    struct hands hands;
    int64_t ahead_ms;          /* of the server's clock before the monotonic one */
};

/* Connects if need be, finds or makes the queue, and begins the script: `verb`
 * and then n arguments, which the caller adds. 0 or a status. */
int rq_begin(struct redis_broker *q, const char *verb, unsigned n);

/* Sends it and waits for the answer. 0, or a status. */
int rq_end(struct redis_broker *q, struct redis_reply *ret);

/* Connects if need be, and finds or makes the queue. */
int rq_ready(struct redis_broker *q);

/* One command on a connection that is ready, whose arguments the caller has
 * added. 0 and an answer that is not an error, or a status. */
int rq_answer(struct redis_broker *q, struct redis_reply *ret);

/* The server's clock, and what it said about it. */
int64_t rq_now_ms(const struct redis_broker *q);
void rq_heard_now(struct redis_broker *q, int64_t now_us);

/* A part of an answer that ought to be an integer: 0 if it is none. */
int64_t rq_int(const struct redis_reply *reply, size_t i);

#endif
