/* queue/kafka/ghosts.h: handlers whose message we have lost.
 *
 * A worker that was cut off from the group for too long gets its partitions back,
 * with the messages that it ran: they must not start again beside themselves, nor
 * after they are done.
 *
 *   runs   its handler has not ended. If nobody else has written about the partition
 *          since, its message is in hand again, under the same token
 *   over   its handler is done, or its copy is written, and the group does not know:
 *          its message is done when it comes back */
#ifndef BIDE_QUEUE_KAFKA_GHOSTS_H
#define BIDE_QUEUE_KAFKA_GHOSTS_H

#include "queue/kafka/session.h"

/* It runs, and its lane goes. Without memory it is not remembered. */
void kf_ghost_add(struct kafka_broker *q, const struct kf_slot *s);

/* The handler of this delivery has ended. `done`: its message, too. Its slot, if it
 * is done and has come back; else NULL. */
struct kf_slot *kf_ghost_end(struct kafka_broker *q, uint64_t token, bool done);

/* Whether it must not start: its handler runs, or is done. */
bool kf_ghost_holds(const struct kafka_broker *q, const struct kf_slot *s);
bool kf_ghost_is_over(const struct kafka_broker *q, const struct kf_slot *s);

/* Its handler runs: the slot has its token again, and it is no ghost any more. */
bool kf_ghost_back(struct kafka_broker *q, struct kf_slot *s);

/* The group knows what is done there: so much need not be remembered. */
void kf_ghosts_told(struct kafka_broker *q, const struct kf_window *w);

#endif
