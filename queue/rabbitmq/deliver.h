/* queue/rabbitmq/deliver.h: the broker's verbs around a delivery. */
#ifndef BIDE_QUEUE_RABBITMQ_DELIVER_H
#define BIDE_QUEUE_RABBITMQ_DELIVER_H

#include <stddef.h>
#include <stdint.h>

struct broker;
struct broker_put;
struct broker_end;
struct broker_rescued;
struct broker_take;
struct queue_message;

int rmq_put(struct broker *b, struct broker_put *items, size_t n);
int rmq_take(struct broker *b, struct broker_take *want, struct queue_message **ret);
int rmq_beat(struct broker *b, struct queue_message **running, size_t n);
int rmq_settle(struct broker *b, struct broker_end *ends, size_t n);
int rmq_rescue(struct broker *b, struct broker_rescued *ret);
int rmq_wait_fd(struct broker *b, int64_t *ret_poll_ns);
void rmq_woken(struct broker *b);

#endif
