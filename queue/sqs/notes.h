/* queue/sqs/notes.h: what SQS cannot keep of a message that must keep its place.
 *
 *     struct sq_note *n = sq_note_of(q, hand);
 *     if (n)
 *         n->uncounted++;
 *
 * A message with a key on a FIFO queue is not copied, so its errors, and which of
 * its receives do not count, have no place in the queue. This worker remembers
 * them, of the last few; to another one, every receive is an attempt. */
#ifndef BIDE_QUEUE_SQS_NOTES_H
#define BIDE_QUEUE_SQS_NOTES_H

#include "queue/sqs/hands.h"

enum { SQ_NOTES = 256 };

/* Threads: owned. */
struct sq_note {
    char message_id[100];
    uint32_t uncounted;
    int64_t due_ns; /* of sq_now(); 12 h are the most that SQS hides it */
    char *errors;   /* NULL: none */
};

/* NULL: there is none. */
struct sq_note *sq_note_find(struct sqs_broker *q, const struct sq_hand *h);

/* Makes one, in the place of the oldest; NULL: no memory. */
struct sq_note *sq_note_of(struct sqs_broker *q, const struct sq_hand *h);

void sq_note_drop(struct sq_note *n);
void sq_notes_done(struct sqs_broker *q);

#endif
