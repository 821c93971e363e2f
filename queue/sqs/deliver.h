/* queue/sqs/deliver.h: taking messages, waiting for them, and what becomes of them. */
#ifndef BIDE_QUEUE_SQS_DELIVER_H
#define BIDE_QUEUE_SQS_DELIVER_H

#include "queue/broker.h"

struct sqs_broker;

/* The broker's verbs of these names. */
int sq_take(struct broker *b, struct broker_take *want,
            struct queue_message **ret);
int sq_settle(struct broker *b, struct broker_end *ends, size_t n);
int sq_wait_fd(struct broker *b, int64_t *ret_poll_ns);
void sq_woken(struct broker *b);

/* Notes when the next is due that we delay ourselves: SQS does not tell. */
void sq_will_be_due(struct sqs_broker *q, int64_t delay_ns);

#endif
