/* queue/sqs/lock.h: the place of a message with a key, while its copy waits.
 *
 *     s.wait_ms = 60000;
 *     if (sq_lock(q, h, &s))         // s.lock: the copy has its place
 *         ...
 *
 * A FIFO queue takes nothing in at its front, and SQS changes nothing about a
 * message. So one with a key that must wait is copied like any other, with what is
 * new in it, into a group of its own; the message itself stays where it is, hidden
 * for as long as SQS allows. While it is, nothing else of its group is handed out:
 * it is a lock, and its receipt handle is in the copy. Whoever ends the copy
 * deletes the lock first.
 *
 * A copy runs only if its lock holds. If not, the message itself has been handed
 * out again, or is done, and the copy is void: its worker died between the copy
 * and the hiding, or nobody received the copy for 12 h.
 *
 * A lock ends 12 h after it was received. What would wait longer, and leave less
 * than four hours to run, gives up its place: its copy goes to the end of its
 * group. */
#ifndef BIDE_QUEUE_SQS_LOCK_H
#define BIDE_QUEUE_SQS_LOCK_H

#include "queue/sqs/hands.h"

/* Whether a copy with this state, and its wait, keeps the place; s->lock says it,
 * and is none if not. */
bool sq_lock(struct sqs_broker *q, const struct sq_hand *h, struct sq_state *s);

/* Its copy was accepted: hides the message until the lock ends. *ret_holds: it was
 * ours still. */
int sq_lock_hide(struct sqs_broker *q, const struct sq_hand *h, bool *ret_holds);

/* Whether the lock of a copy holds; one that has none is free to run. */
int sq_lock_check(struct sqs_broker *q, const struct sq_hand *h,
                  bool *ret_holds);

/* The copy ends, or has given up its place. */
int sq_lock_release(struct sqs_broker *q, const struct sq_hand *h);

#endif
