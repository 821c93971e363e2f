/* queue/sqs/letters.h: dead letters in hand.
 *
 *     int status = sq_letters_receive(q, &came);  // some more of them
 *     for (size_t i = 0; i < q->letters.n; i++)
 *         ...
 *     status = sq_letters_show(q);                // all but those deleted
 *
 * SQS can show a message only by handing it out, so that is how dead letters are
 * looked at. Whoever brings back many of them keeps what it was handed and did not
 * want yet: asking again for each would be asking for all of them, each time. */
#ifndef BIDE_QUEUE_SQS_LETTERS_H
#define BIDE_QUEUE_SQS_LETTERS_H

#include "queue/sqs/session.h"

/* Ten more, at most; those whose hiding is about to end are dropped. */
int sq_letters_receive(struct sqs_broker *q, size_t *came);

/* All that are there, at most as many as SQS counts; on failure those so far. What
 * somebody else looks at just now is waited for, a few seconds. */
int sq_letters_receive_all(struct sqs_broker *q);

/* Shows those to others again that were not settled, and forgets all. */
int sq_letters_show(struct sqs_broker *q);
void sq_letters_done(struct sqs_broker *q);

#endif
