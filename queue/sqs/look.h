/* queue/sqs/look.h: counting, listing the dead, redriving. */
#ifndef BIDE_QUEUE_SQS_LOOK_H
#define BIDE_QUEUE_SQS_LOOK_H

#include "queue/sqs/session.h"

/* Calls fn with each dead letter that is wanted. They are hidden meanwhile, and
 * shown again at the end. */
int sq_each(struct broker *b, const struct broker_filter *filter,
            broker_each *fn, void *arg);
int sq_redrive(struct broker *b, const char *const *ids, size_t n,
               bool fresh_key, size_t *ret_n);
int sq_counts(struct broker *b, struct broker_counts *ret);
int sq_queues(struct broker *b, void (*fn)(void *arg, const char *name),
              void *arg);

#endif
