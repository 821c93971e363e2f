/* queue/rabbitmq/bell.h: consumers that tell a worker that waits of a message.
 *
 * Whoever waits consumes its lanes with a prefetch of 1: the first message rings, and is
 * what the next take gives first. A worker that is not hungry has no bell, and gives
 * back what one has brought: messages wait in the server, not here.
 *
 * To ask for each message costs a server more than to send it by itself. So a lane in
 * which much waits flows, to a worker that comes back for many within milliseconds: its
 * bell brings as many again as are taken at a time, while those run. What has come and
 * was not taken is in no list: nobody is to blame for it. */
#ifndef BIDE_QUEUE_RABBITMQ_BELL_H
#define BIDE_QUEUE_RABBITMQ_BELL_H

#include "queue/rabbitmq/session.h"

/* The broker's wait_fd() and woken(). */
int rmq_wait_fd(struct broker *b, int64_t *ret_poll_ns);
void rmq_woken(struct broker *b);

/* Ends the one on a lane. */
int bell_silence(struct rmq *q, int lane);

/* Lets a lane flow, with so many out at most. To be waited for: wire_wait(). */
int bell_flow(struct rmq *q, int lane, size_t most);
/* Ends that, and gives back what nobody has taken. */
int bell_ebb(struct rmq *q);

/* Gives back what nobody has taken for a second. */
int bell_rest(struct rmq *q);

#endif
