/* queue/kafka/ghosts.h: handlers whose message we have lost, and which have not ended yet.
 *
 * A worker that was cut off from the group for too long gets its partitions back,
 * with the messages that it ran: they must not start again beside themselves. */
#ifndef BIDE_QUEUE_KAFKA_GHOSTS_H
#define BIDE_QUEUE_KAFKA_GHOSTS_H

#include "queue/kafka/session.h"

/* It runs, and its lane goes. Without memory it is not remembered. */
void kf_ghost_add(struct kafka_broker *q, const struct kf_slot *s);

/* The handler of this delivery has ended. */
void kf_ghost_end(struct kafka_broker *q, uint64_t token);

bool kf_ghost_runs(const struct kafka_broker *q, const struct kf_slot *s);

#endif
