/* queue/kafka/look.h: reading a queue without belonging to its group. */
#ifndef BIDE_QUEUE_KAFKA_LOOK_H
#define BIDE_QUEUE_KAFKA_LOOK_H

#include "queue/kafka/session.h"

/* ===== scan.c ===== */

/* Where partitions begin or end now: `which` is RD_KAFKA_OFFSET_BEGINNING or END. */
int kf_edges(struct kafka_broker *q, rd_kafka_t *rk,
             const rd_kafka_topic_partition_list_t *all, int64_t which,
             rd_kafka_topic_partition_list_t **ret);

/* All partitions of topics from..to, as for kf_topic(). */
rd_kafka_topic_partition_list_t *kf_all(const struct kafka_broker *q, int from,
                                        int to);

/* False: enough. */
typedef bool kf_scan_fn(void *arg, int partition, const rd_kafka_message_t *record);

/* Reads each partition from its offset to its end; fn gets the index of the
 * partition in the list. */
int kf_scan(struct kafka_broker *q, rd_kafka_topic_partition_list_t *from,
            kf_scan_fn *fn, void *arg);

/* ===== dead.c ===== */

/* Reads what came since the last time. */
int kf_grave_update(struct kafka_broker *q);
void kf_grave_free(struct kafka_broker *q);
bool kf_grave_has(const struct kafka_broker *q, int32_t partition, int64_t offset);
void kf_grave_count(const struct kafka_broker *q, struct broker_counts *ret);

int kf_redrive(struct broker *b, const char *const *ids, size_t n, bool fresh_key,
               size_t *ret_n);

/* ===== each.c, counts.c, check.c ===== */

/* The queue's and the retry topics' partitions, with the committed offset and the
 * state of each. */
int kf_states(struct kafka_broker *q, rd_kafka_topic_partition_list_t **ret_all,
              struct kf_state **ret_states);


int kf_each(struct broker *b, const struct broker_filter *filter, broker_each *fn,
            void *arg);
int kf_counts(struct broker *b, struct broker_counts *ret);
int kf_check(struct broker *b, const struct broker_plan *plan, broker_finding *fn,
             void *arg);

#endif
