/* queue/rabbitmq/slot.h: the place of a worker among others.
 *
 *     int status = slot_claim(q);                  // q->slot
 *
 * A worker has a slot K, and consumes NAME.worker.K exclusively: that it does is its
 * lease, and nobody else can have the slot. Slots are used from 0 on, so that everybody
 * finds them. A slot without a consumer, whose list is not empty, is that of a worker
 * that died, or whose connection was cut; it has half a lease to come back.
 *
 * What comes into NAME.worker.K are messages that this worker runs: others got them when
 * its connection was cut (the server gives them to anybody), and send them on; or it has
 * sent them to itself, because they have been unacknowledged for long (consumer_timeout). */
#ifndef BIDE_QUEUE_RABBITMQ_SLOT_H
#define BIDE_QUEUE_RABBITMQ_SLOT_H

#include "queue/rabbitmq/session.h"

/* Claims the former slot if we hold something, else a free one; then finds what we
 * held. */
int slot_claim(struct rmq *q);

/* Attaches what has come into our slot. */
int slot_receive(struct rmq *q);

/* Sends messages that have been in hand for long to ourselves. */
int slot_renew(struct rmq *q);

/* Which slots have a worker. */
int slot_alive(struct rmq *q, bool alive[SLOTS]);

/* Finds out how many slots there are. */
int slot_count(struct rmq *q);

/* Tells their workers that there will be messages with a key, for the first time. */
int slot_tell_keys(struct rmq *q);

/* Calls fn with those at the heads of the lanes, as long as they were delivered before.
 * True: fn keeps it. All stay unacknowledged on the channel. */
typedef bool slot_head(struct rmq *q, struct wire_in *in, void *arg);
int slot_heads(struct rmq *q, int channel, slot_head *fn, void *arg);

#endif
