/* queue/kafka/copies.h: copies of a message in other topics, which are confirmed before the
 * message is done.
 *
 * A record of another producer may be as large as its topic allows, and a copy is
 * larger by what bide has to say. What does not fit into its retry topic is a dead
 * letter, `too_large`; if that does not fit either, one that says where the record
 * is, instead of what is in it. */
#ifndef BIDE_QUEUE_KAFKA_COPIES_H
#define BIDE_QUEUE_KAFKA_COPIES_H

#include "queue/kafka/record.h"

/* In a dead letter without its body: "TOPIC PARTITION OFFSET" of the record. */
#define KF_BODY_AT "bide-body-at"

/* What is known of it now. */
struct kf_facts kf_slot_facts(const struct kafka_broker *q, const struct kf_slot *s);

/* Its retry, or its dead letter. -1: no memory; kf_send_done() in any case. */
int kf_copy_for_end(struct kafka_broker *q, struct kf_send *to,
                    const struct broker_end *e, const struct kf_slot *s);

/* Writes copies of `slots`. One that has become a dead letter is of the topic
 * KF_TOPICS then. */
int kf_send_copies(struct kafka_broker *q, struct kf_send *list,
                   struct kf_slot *const *slots, size_t n);

#endif
