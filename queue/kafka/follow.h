/* queue/kafka/follow.h: those that wait behind one of their key. */
#ifndef BIDE_QUEUE_KAFKA_FOLLOW_H
#define BIDE_QUEUE_KAFKA_FOLLOW_H

#include "queue/kafka/session.h"

/* Messages of the queue's topic whose key waits in a retry topic go there, too,
 * behind it: so that they hold back nobody else. */
int kf_move_followers(struct kafka_broker *q);

#endif
