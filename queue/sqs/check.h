/* queue/sqs/check.h: the queue's settings against what a worker needs. */
#ifndef BIDE_QUEUE_SQS_CHECK_H
#define BIDE_QUEUE_SQS_CHECK_H

#include "queue/broker.h"

int sq_check(struct broker *b, const struct broker_plan *plan,
             broker_finding *fn, void *arg);

#endif
