/* queue/sqs/poll.h: the long poll, beside the worker's other requests.
 *
 *     q->poll = sq_poll_new();
 *     int fd = sq_poll_fd(q->poll);    // readable: call sq_poll_drive()
 *     sq_poll_start(q);                // if a place is free, and none is out
 *     int status = sq_poll_drive(q);   // what came is in q->hands
 *     sq_poll_free(q->poll);
 *
 * SQS bills requests, so an idle worker asks three times a minute, and SQS
 * answers at once when a message comes. A poll that is out asks for no more
 * messages than handlers were free when it began, and of those none can become
 * busy but by what it brings. One that is given up may take messages that nobody
 * then has, until their hiding ends: it is left only when the worker goes. */
#ifndef BIDE_QUEUE_SQS_POLL_H
#define BIDE_QUEUE_SQS_POLL_H

#include "queue/sqs/session.h"

struct sq_poll *sq_poll_new(void); /* NULL: no memory */
void sq_poll_free(struct sq_poll *p);

int sq_poll_fd(const struct sq_poll *p);
bool sq_poll_is_out(const struct sq_poll *p);

/* Asks for as many as the last take had wanted and nobody has brought yet.
 * Failures show up in the next request that somebody waits for. */
void sq_poll_start(struct sqs_broker *q);
int sq_poll_drive(struct sqs_broker *q);

#endif
