/* queue/missing.h: a queue that is not there, and the one that was probably meant.
 *
 *     int status = queue_missing(b, names, "there is no queue `%s`", b->queue);
 *     // there is no queue `defalt`; did you mean `default`?
 */
#ifndef BIDE_QUEUE_MISSING_H
#define BIDE_QUEUE_MISSING_H

#include "base/out.h"
#include "queue/broker.h"

/* As broker_kind.queues; here it must not ask for the queue that is missing. */
typedef int queue_names(struct broker *b, void (*fn)(void *arg, const char *name),
                        void *arg);

/* Refuses: what the format says, and which name is close. A program that would
 * make the queue does not if one is ("did you mean"). */
int queue_missing(struct broker *b, queue_names *names, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "did you mean `default`?" if another queue's name is close to this one's. */
bool queue_close(struct broker *b, queue_names *names, struct bide__out *out);

#endif
