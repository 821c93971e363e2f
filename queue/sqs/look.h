/* queue/sqs/look.h: counting, and listing the dead. */
#ifndef BIDE_QUEUE_SQS_LOOK_H
#define BIDE_QUEUE_SQS_LOOK_H

#include "queue/sqs/session.h"

/* Calls fn with each dead letter that is wanted. They are hidden meanwhile, and
 * shown again at the end. */
int sq_each(struct broker *b, const struct broker_filter *filter,
            broker_each *fn, void *arg);
int sq_counts(struct broker *b, struct broker_counts *ret);
int sq_queues(struct broker *b, void (*fn)(void *arg, const char *name),
              void *arg);

#endif
