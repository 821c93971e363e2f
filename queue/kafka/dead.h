/* queue/kafka/dead.h: dead letters: reading, counting and redriving them. */
#ifndef BIDE_QUEUE_KAFKA_DEAD_H
#define BIDE_QUEUE_KAFKA_DEAD_H

#include "queue/kafka/session.h"

/* Reads what came since the last time. */
int kf_grave_update(struct kafka_broker *q);
void kf_grave_free(struct kafka_broker *q);
bool kf_grave_has(const struct kafka_broker *q, int32_t partition, int64_t offset);
void kf_grave_count(const struct kafka_broker *q, struct broker_counts *ret);

int kf_redrive(struct broker *b, const char *const *ids, size_t n, bool fresh_key,
               size_t *ret_n);

#endif
