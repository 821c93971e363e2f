/* queue/redis/workers.h: leases of workers, and what becomes of the messages of
 * those whose lease has ended. */
#ifndef BIDE_QUEUE_REDIS_WORKERS_H
#define BIDE_QUEUE_REDIS_WORKERS_H

#include <stddef.h>

struct broker;
struct broker_rescued;
struct queue_message;
struct redis_broker;

/* After an answer was lost: gives back what the server believes to be in our
 * hands. 0 or a status. */
int rq_settle_doubt(struct redis_broker *q);

/* Gives everything back, as far as the server can be reached. */
void rq_leave(struct redis_broker *q);

/* The broker's beat() and rescue(). */
int rq_beat(struct broker *b, struct queue_message **running, size_t n);
int rq_rescue(struct broker *b, struct broker_rescued *ret);

#endif
