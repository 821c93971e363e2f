/* queue/sqs/redrive.h: bringing dead letters back. */
#ifndef BIDE_QUEUE_SQS_REDRIVE_H
#define BIDE_QUEUE_SQS_REDRIVE_H

#include "queue/broker.h"

/* The broker's verb. Letters that were received and not wanted stay in hand until
 * the broker is closed, or somebody lists them. */
int sq_redrive(struct broker *b, const char *const *ids, size_t n,
               bool fresh_key, size_t *ret_n);

#endif
