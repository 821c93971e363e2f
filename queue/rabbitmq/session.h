/* queue/rabbitmq/session.h: a queue on RabbitMQ, and what this worker holds of it.
 *
 *     int status = rmq_ready(q);              // connected, and all queues are there
 *     if (status == 0)
 *         status = rmq_tell(q, wire_wait(&q->wire));    // with b->error
 *
 * The queues of a queue NAME, all durable (place.c makes them):
 *
 *   NAME                 what is fresh, priority 0, also from foreign producers
 *   NAME.priority.P      what is fresh, by priority
 *   NAME.retry           what failed before and is due
 *   NAME.suspect         a worker died with it: it runs alone
 *   NAME.delay.0 .. 27   what waits: 2^k tenths of a second, by a TTL of the queue
 *   NAME.dead            dead letters
 *   NAME.worker.K        of the worker in slot K, and NAME.worker.K.hand: the list of
 *                        what it runs (slot.h)
 *
 * A message that runs is not acknowledged: it is in the server's hands, and in ours by
 * its delivery tag. When the connection ends, the server takes it back. */
#ifndef BIDE_QUEUE_RABBITMQ_SESSION_H
#define BIDE_QUEUE_RABBITMQ_SESSION_H

#include "queue/broker.h"
#include "queue/rabbitmq/copy.h"
#include "queue/rabbitmq/wire.h"

/* Lanes, in the order in which they are served: priority 9 to -9, then: */
enum {
    LANE_NORMAL = QUEUE_PRIORITY_MAX,
    LANE_RETRY = 2 * QUEUE_PRIORITY_MAX + 1,
    LANE_SUSPECT,
    LANES,
    LEVELS = 28,
    RMQ_NAME = 128,
    SLOTS = 1024
};

#define RMQ_TENTH INT64_C(100000000)

/* A delivery that we gave to the worker. */
struct rmq_hand {
    uint64_t token, tag;
    uint16_t channel;
    bool ending;        /* it is being settled */
    bool attached;      /* the tag is of this connection */
    int64_t since_ns;   /* that we have this tag */
    char *line;         /* of the list in NAME.worker.K.hand: it begins with the id */
};

/* Threads: owned. */
struct rmq {
    struct broker b;
    struct wire wire;
    struct rmq_url url;
    uint64_t known;            /* the connection on which all was found */
    bool create, consume;
    bool remake;               /* a queue was deleted */
    uint32_t max_deaths;
    int64_t lease_ns, ageing_ns;
    uint64_t last_token;
    char worker[40];

    struct rmq_hand *hand;
    size_t n_hand, room_hand;
    struct rmq_settled {
        char *line;            /* as in the list */
        int64_t queued_ms;
        uint64_t connection;   /* on which it was */
    } settled[256];            /* the last ones */
    size_t n_settled;          /* so far */
    bool listed_wrong;         /* the list has some that ended */
    int64_t lost_ns;           /* what is not attached by then is lost */

    int slot;                  /* ours; -1: none */
    int n_slots;               /* that are known */
    int64_t gone_ns[SLOTS];    /* since when a slot has no worker; 0: it has */

    int64_t asked_ns[LANES];   /* when a lane was looked at last, */
    int64_t served_ns[LANES];  /* was empty, or gave something */
    int bell_of[LANES];        /* the consumer on a lane; 0: none */
    int last_bell;
    bool rung[LANES];          /* wire.in has a message of its bell */
    bool used[LANES];          /* it gave something since the last tick, */
    bool acked;                /* and something was acknowledged */
    bool no_ticks;             /* NAME has a dead-letter exchange: they would go there */
    bool hungry;               /* the last take got less than it wanted */
    int64_t take_ns;           /* when that was */
    int64_t due_ns;            /* the next that we know of; BIDE_FOREVER */

    struct broker_counts reasons; /* dead_by, of so many `dead` */
};

/* Connects if need be, makes what is missing, claims a slot, and finds what it held
 * before. 0 or a status. */
int rmq_ready(struct rmq *q);

/* Makes b->error of the wire's; gives the status back. */
int rmq_tell(struct rmq *q, int status);
int rmq_no_memory(struct rmq *q);

int64_t rmq_now_ms(void);

/* ===== place.c: the queues ===== */

/* "NAME.retry", ... */
const char *place_lane(const struct rmq *q, int lane, char to[RMQ_NAME]);
const char *place_level(const struct rmq *q, int level, char to[RMQ_NAME]);
const char *place_dead(const struct rmq *q, char to[RMQ_NAME]);
const char *place_slot(const struct rmq *q, int slot, char to[RMQ_NAME]);
const char *place_list(const struct rmq *q, int slot, char to[RMQ_NAME]);

/* The lane of a message that is due, and not dead. */
int place_of(const struct copy *c);

/* Is there such a queue? 1, 0, or a status. */
int place_exists(struct rmq *q, const char *queue);

/* Finds or makes the queues. */
int place_ready(struct rmq *q);
int place_declare(struct rmq *q, int channel, const char *queue, amqp_table_t more);

/* Publishes to a lane, after a delay: not before, and up to 0.1 s later. */
int place_publish(struct rmq *q, const struct copy *c, int lane, int64_t delay_ns);

/* Publishes a message that nobody handles, and that expires, to the lanes that were used:
 * with its confirmation, acknowledgements that came before it are on the disk. A classic
 * queue that is busy keeps them in memory otherwise, for as long as it is. */
int place_tick(struct rmq *q);

#endif
