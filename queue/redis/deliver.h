/* queue/redis/deliver.h: taking messages, and what becomes of them. */
#ifndef BIDE_QUEUE_REDIS_DELIVER_H
#define BIDE_QUEUE_REDIS_DELIVER_H

#include <stddef.h>

struct broker;
struct broker_end;
struct broker_take;
struct queue_message;

/* The broker's take() and settle(). */
int rq_take(struct broker *b, struct broker_take *want,
            struct queue_message **ret);
int rq_settle(struct broker *b, struct broker_end *ends, size_t n);

#endif
