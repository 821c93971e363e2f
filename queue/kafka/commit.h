/* queue/kafka/commit.h: what has changed becomes durable together, or is undone. */
#ifndef BIDE_QUEUE_KAFKA_COMMIT_H
#define BIDE_QUEUE_KAFKA_COMMIT_H

#include "queue/kafka/session.h"

/* Called before a slot is changed. -1: no memory. */
int kf_note(struct kafka_broker *q, struct kf_slot *s);

/* Commits what has changed. If that fails, nothing has. When the group no longer
 * knows us, q->fenced is true and all lanes are gone. */
int kf_commit(struct kafka_broker *q);
int kf_begin_group(struct broker *b);
int kf_commit_group(struct broker *b);

/* Asks the group whether it still knows us, unless it did just now. */
int kf_prove(struct kafka_broker *q);

#endif
