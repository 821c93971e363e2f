/* queue/sqs/receive.h: asking for messages, and what is done with those that come
 * before anybody else sees them.
 *
 *     size_t came;
 *     int status = sq_receive(q, SQ_MAIN, 4, &came);
 *     // those that may run are among q->hands, `stashed`
 *
 *   not due yet      hidden until it is, at most 12 h at a time
 *   a copy whose     deleted: the message itself is on its way (lock.h)
 *   lock is gone
 *   its delivery     a worker died with it, or was frozen: queue/blame.h decides,
 *   never ended      and a copy goes to NAME-suspects, or to NAME-dead
 *   all others       may run */
#ifndef BIDE_QUEUE_SQS_RECEIVE_H
#define BIDE_QUEUE_SQS_RECEIVE_H

#include "queue/sqs/session.h"

/* How long what is received is hidden at first; beats hide it for a lease. */
int64_t sq_hidden_ns(const struct sqs_broker *q);

/* The members of a request: at most so many, how long they are hidden, and how
 * long SQS waits for the first. */
void sq_put_request(struct bide__json *j, size_t most, int64_t hidden_s,
                    int wait_s);

/* The same, of a worker. */
void sq_put_receive(struct sqs_broker *q, struct bide__json *j, size_t most,
                    int wait_s);

/* What an answer holds, when the request was sent at `sent_ns`. */
int sq_admit(struct sqs_broker *q, enum sq_where where, struct sq_value answer,
             int64_t sent_ns);

/* Asks once, without waiting. *ret_n: how many came, whatever became of them. */
int sq_receive(struct sqs_broker *q, enum sq_where where, size_t most,
               size_t *ret_n);

#endif
