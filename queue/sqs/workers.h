/* queue/sqs/workers.h: a worker's own beats, and what others left behind. */
#ifndef BIDE_QUEUE_SQS_WORKERS_H
#define BIDE_QUEUE_SQS_WORKERS_H

#include "queue/broker.h"

/* The broker's beat() and rescue(). */
int sq_beat(struct broker *b, struct queue_message **running, size_t n);
int sq_rescue(struct broker *b, struct broker_rescued *ret);

#endif
