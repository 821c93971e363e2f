/* queue/rabbitmq/look.h: the broker's verbs that look at a queue. */
#ifndef BIDE_QUEUE_RABBITMQ_LOOK_H
#define BIDE_QUEUE_RABBITMQ_LOOK_H

#include "queue/broker.h"

struct rmq;

int rmq_counts(struct broker *b, struct broker_counts *ret);
int rmq_each(struct broker *b, const struct broker_filter *filter, broker_each *fn,
             void *arg);
int rmq_redrive(struct broker *b, const char *const *ids, size_t n, bool fresh_key,
                size_t *ret_n);

/* Calls fn with every message of a queue, from its head on, as long as it says so; then
 * all of them are back where they were. */
struct wire_in;
typedef bool look_each(struct rmq *q, struct wire_in *in, void *arg);
int look_at_queue(struct rmq *q, const char *queue, look_each *fn, void *arg);

#endif
