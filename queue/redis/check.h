/* queue/redis/check.h: the server's settings against what a queue needs. */
#ifndef BIDE_QUEUE_REDIS_CHECK_H
#define BIDE_QUEUE_REDIS_CHECK_H

#include "queue/broker.h"

int rq_check(struct broker *b, const struct broker_plan *plan,
             broker_finding *fn, void *arg);

/* Whether the server keeps what it confirms: 0, or REFUSED with the setting to
 * change. Asked of each connection once. */
struct redis_broker;
int rq_keeps(struct redis_broker *q);

#endif
