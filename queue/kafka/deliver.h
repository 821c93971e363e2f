/* queue/kafka/deliver.h: the verbs of a delivery, from take to settle. */
#ifndef BIDE_QUEUE_KAFKA_DELIVER_H
#define BIDE_QUEUE_KAFKA_DELIVER_H

#include "queue/kafka/session.h"

int kf_take(struct broker *b, struct broker_take *want, struct queue_message **ret);
int kf_beat(struct broker *b, struct queue_message **running, size_t n);
int kf_settle(struct broker *b, struct broker_end *ends, size_t n);
int kf_wait_fd(struct broker *b, int64_t *ret_poll_ns);
void kf_woken(struct broker *b);

/* What is out under this token; NULL: it is lost. */
struct kf_slot *kf_in_hand(const struct kafka_broker *q, uint64_t token);

/* One more can be in hand. -1: no memory. */
int kf_make_room(struct kafka_broker *q);

/* It is done, as far as this partition is concerned. -1: no memory. */
int kf_end_slot(struct kafka_broker *q, struct kf_slot *s);

#endif
