/* queue/sqs/row.h: an element of `Messages` as a message. */
#ifndef BIDE_QUEUE_SQS_ROW_H
#define BIDE_QUEUE_SQS_ROW_H

#include "queue/message.h"
#include "queue/sqs/state.h"

/* Counts are those of `state`; NULL: no memory. */
struct queue_message *sq_row(struct sq_value message, const struct sq_state *s);

#endif
