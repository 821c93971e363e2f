/* queue/rabbitmq/deliver.h: the broker's verbs around a delivery. */
#ifndef BIDE_QUEUE_RABBITMQ_DELIVER_H
#define BIDE_QUEUE_RABBITMQ_DELIVER_H

#include <stddef.h>

struct broker;
struct broker_end;
struct broker_take;
struct queue_message;

int rmq_take(struct broker *b, struct broker_take *want, struct queue_message **ret);
int rmq_beat(struct broker *b, struct queue_message **running, size_t n);
int rmq_settle(struct broker *b, struct broker_end *ends, size_t n);
int rmq_begin(struct broker *b);
int rmq_commit(struct broker *b);

/* ===== what was acknowledged, between begin() and commit() ===== */

struct rmq;

/* Asks whether it was heard, beside what else is waited for: then it is no longer in hand. */
int settle_ask(struct rmq *q);
void settle_heard(struct rmq *q);
/* Both, now. */
int settle_wait(struct rmq *q);

#endif
