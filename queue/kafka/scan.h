/* queue/kafka/scan.h: reading partitions from one offset to their end. */
#ifndef BIDE_QUEUE_KAFKA_SCAN_H
#define BIDE_QUEUE_KAFKA_SCAN_H

#include "queue/kafka/session.h"

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

#endif
