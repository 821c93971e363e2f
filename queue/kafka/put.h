/* queue/kafka/put.h: the broker's put(). */
#ifndef BIDE_QUEUE_KAFKA_PUT_H
#define BIDE_QUEUE_KAFKA_PUT_H

#include <stddef.h>

struct broker;
struct broker_put;

int kf_put(struct broker *b, struct broker_put *items, size_t n);

#endif
