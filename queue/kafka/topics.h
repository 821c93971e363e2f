/* queue/kafka/topics.h: the topics of a queue: NAME, NAME.retry.10s and further
 * ones by the length of the wait, and NAME.dead. */
#ifndef BIDE_QUEUE_KAFKA_TOPICS_H
#define BIDE_QUEUE_KAFKA_TOPICS_H

#include "queue/kafka/session.h"

/* `topic`: KF_MAIN, a tier, or KF_TOPICS for dead letters. */
void kf_topic(const struct kafka_broker *q, int topic, char to[KF_TOPIC_NAME]);

/* The tier for a wait. */
int kf_tier(int64_t delay_ns);

/* All of them are there, or are made. 0 or a status. */
int kf_topics_ready(struct kafka_broker *q);

/* Partitions may be added to the queue's topic at any time. REFUSED: others have fewer,
 * and b->error says which. */
int kf_topics_agree(struct kafka_broker *q);

int kf_queues(struct broker *b, void (*fn)(void *arg, const char *name),
              void *arg);

#endif
