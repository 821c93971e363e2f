/* queue/kafka/lanes.h: partitions that come to us, and go. */
#ifndef BIDE_QUEUE_KAFKA_LANES_H
#define BIDE_QUEUE_KAFKA_LANES_H

#include "queue/kafka/session.h"

/* Reads what the group knows of them, and begins to fetch. `all` has, for each
 * partition, those of all topics in the order of a lane's windows. After a failure
 * some of them may be there. */
int kf_add_lanes(struct kafka_broker *q, rd_kafka_topic_partition_list_t *all);

void kf_drop_lane(struct kafka_broker *q, struct kf_lane *l);

/* Fetches again, from where its windows have come to. */
int kf_fetch_anew(struct kafka_broker *q, struct kf_lane *l);

/* All of them. `give_back`: what runs there waits again, and nobody is blamed. */
void kf_drop_lanes(struct kafka_broker *q, bool give_back);

#endif
