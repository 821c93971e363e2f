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
 * Between begin() and commit() what is settled goes out together with the verb that
 * follows: the server runs both, and flushes its file once. Each is a whole, the two
 * are not.
 *
 * A second connection waits in XREAD for streams to grow, so that messages that
 * anybody adds wake the worker. */
#ifndef BIDE_QUEUE_REDIS_SESSION_H
#define BIDE_QUEUE_REDIS_SESSION_H

#include "queue/broker.h"
#include "store/redis/redis.h"

/* The longest: a letter, a priority, and the id of an entry. */
enum { RQ_HANDLE = 64 };

/* A delivery. When an answer is lost, a take may have happened that nobody knows of:
 * what the server says that this worker has and is not here is given back. A worker
 * has as many in hand as it runs, so a list is enough. */
struct rq_hand {
    uint64_t token;
    char handle[RQ_HANDLE];
};

/* Threads: owned. */
struct redis_broker {
    struct broker b;
    struct redis *redis;
    struct redis *bell;        /* XREAD BLOCK; NULL: only puts and looks */
    uint64_t bell_hangs;       /* the connection on which it was sent; 0: none */
    struct redis_script script;
    uint64_t known;            /* the connection on which the queue was found */
    uint64_t keeps;            /* the connection whose server keeps what is put */
    int64_t lease_us, ageing_us;
    uint32_t max_deaths;
    bool create, consume;
    bool doubt;                /* an answer was lost: hands and server may differ */
    bool again;                /* there is more to take at once */
    char worker[40];
    struct rq_hand *hands;     /* what was handed out */
    size_t n_hands, hands_size;
    bool grouped;              /* between begin() and commit() */
    struct broker_end *settling; /* sent or not, and its answer not read; NULL */
    size_t n_settling;
    int64_t ahead_ms;          /* of the server's clock before the monotonic one */
};

/* Connects if need be, finds or makes the queue, and begins the script: `verb`
 * and then n arguments, which the caller adds. 0 or a status. */
int rq_begin(struct redis_broker *q, const char *verb, unsigned n);

/* Sends it and waits for the answer, and before that for the answer to what was
 * settled in this group. 0, or a status. */
int rq_end(struct redis_broker *q, struct redis_reply *ret);

/* Ends a script that settles: its answer is read at once, or in a group with the next
 * verb's; until then `ends` must stay. 0, or a status. */
int rq_end_settle(struct redis_broker *q, struct broker_end *ends, size_t n);

/* begin() and commit() of the broker. */
int rq_group_begin(struct broker *b);
int rq_group_commit(struct broker *b);

/* Deliveries in hand. -1: no memory. */
int rq_hands_add(struct redis_broker *q, const struct queue_message *m);
void rq_hands_drop(struct redis_broker *q, uint64_t token);

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
