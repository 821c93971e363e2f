/* queue/kafka/fetch.h: records come in. */
#ifndef BIDE_QUEUE_KAFKA_FETCH_H
#define BIDE_QUEUE_KAFKA_FETCH_H

#include "queue/kafka/session.h"

/* Brings in what has arrived: of retry topics all, of others until `most` are in
 * line. Waits for what we wrote ourselves. */
int kf_fetch(struct kafka_broker *q, size_t most);

/* While a commit is under way: brings in of the queue's topic what the next take() will
 * ask for. Nothing that the commit is about changes. */
void kf_fetch_ahead(struct kafka_broker *q);

/* A record that we wrote into a partition of ours will come: its key is kept for
 * it. `delay_ns` from now. */
void kf_await(struct kafka_broker *q, int topic, int32_t partition,
              int64_t offset, int64_t place, int64_t delay_ns, uint32_t attempt,
              const void *key, size_t key_len);

#endif
