/* queue/sqs/deliver.h: the verbs of a worker. */
#ifndef BIDE_QUEUE_SQS_DELIVER_H
#define BIDE_QUEUE_SQS_DELIVER_H

#include "queue/broker.h"

int sq_put(struct broker *b, struct broker_put *items, size_t n);
int sq_take(struct broker *b, struct broker_take *want,
            struct queue_message **ret);
int sq_settle(struct broker *b, struct broker_end *ends, size_t n);
int sq_beat(struct broker *b, struct queue_message **running, size_t n);
int sq_rescue(struct broker *b, struct broker_rescued *ret);
int sq_wait_fd(struct broker *b, int64_t *ret_poll_ns);
void sq_woken(struct broker *b);

/* Notes when the next is due that we delay ourselves: SQS does not tell. */
struct sqs_broker;
void sq_will_be_due(struct sqs_broker *q, int64_t delay_ns);

#endif
