/* queue/rabbitmq/check.h: the broker's check(). */
#ifndef BIDE_QUEUE_RABBITMQ_CHECK_H
#define BIDE_QUEUE_RABBITMQ_CHECK_H

#include "queue/broker.h"

int rmq_check(struct broker *b, const struct broker_plan *plan, broker_finding *fn,
              void *arg);

#endif
