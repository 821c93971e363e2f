/* queue/sqs/put.h: messages on their way in. */
#ifndef BIDE_QUEUE_SQS_PUT_H
#define BIDE_QUEUE_SQS_PUT_H

#include "queue/broker.h"

/* The broker's put(). */
int sq_put(struct broker *b, struct broker_put *items, size_t n);

#endif
