/* queue/kafka/look.h: reading a queue without belonging to its group. */
#ifndef BIDE_QUEUE_KAFKA_LOOK_H
#define BIDE_QUEUE_KAFKA_LOOK_H

#include "queue/kafka/scan.h"
#include "queue/kafka/session.h"

/* ===== each.c, counts.c ===== */

/* The queue's and the retry topics' partitions, with the committed offset and the
 * state of each. */
int kf_states(struct kafka_broker *q, rd_kafka_topic_partition_list_t **ret_all,
              struct kf_state **ret_states);


int kf_each(struct broker *b, const struct broker_filter *filter, broker_each *fn,
            void *arg);
int kf_counts(struct broker *b, struct broker_counts *ret);

#endif
