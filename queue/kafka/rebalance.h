/* queue/kafka/rebalance.h: what the group gives, and asks for.
 *
 * Assignment is cooperative: a partition that is to go to another worker is ours
 * until we let go of it, and nobody else has it before. So what runs there may end
 * first: nothing is started twice because a worker has joined.
 *
 *   drain   for DRAIN_NS nothing new is started there; when nothing runs any more,
 *           the partitions go
 *   hold    what runs takes longer: until it has ended, all goes on as before. Then
 *           it is drained again
 *   hurry   somebody else has died or joined, and the group cannot go on without
 *           us: what does not end soon is stopped, and starts over there. This is
 *           asked of the group every few seconds
 *
 * Invariant: lanes that `leaves` is set of are those of q->leaving. */
#ifndef BIDE_QUEUE_KAFKA_REBALANCE_H
#define BIDE_QUEUE_KAFKA_REBALANCE_H

#include "queue/kafka/session.h"

int kf_join(struct kafka_broker *q);

/* While the member joins, no offset must be committed: behind the request it would
 * arrive with the generation before, be refused for that, and librdkafka (before 2.10)
 * would take all that is ours for lost. So what it sends and hears is watched. */
int kf_watch_joins(struct kafka_broker *q, rd_kafka_conf_t *conf);

/* Hands a commit to librdkafka, so that no request to join is before it. Waits until
 * then, to `end_ns` at the most; brings in what q->ahead asks for, once it has left. */
rd_kafka_resp_err_t kf_commit_between_joins(struct kafka_broker *q,
                                            const rd_kafka_topic_partition_list_t *list,
                                            int64_t end_ns);

/* Goes on with what the group has given, or asked for. 0 or a status. */
int kf_serve_group(struct kafka_broker *q);

/* Whether its handler has to stop: the group waits for its partition. */
bool kf_must_stop(const struct kafka_broker *q, const struct kf_slot *s);

/* Before the client is closed: from here on nothing is read, and nothing held. */
void kf_give_up_group(struct kafka_broker *q);

void kf_on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                     rd_kafka_topic_partition_list_t *list, void *arg);

#endif
