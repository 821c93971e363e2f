/* queue/rabbitmq/track_in.h: what has come into the tracks. */
#ifndef BIDE_QUEUE_RABBITMQ_TRACK_IN_H
#define BIDE_QUEUE_RABBITMQ_TRACK_IN_H

struct rmq;

/* Takes in what lies in wire.in. 0 or a status. */
int tracks_receive(struct rmq *q);

#endif
