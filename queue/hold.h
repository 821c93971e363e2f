/* queue/hold.h: ends handlers while nobody else can have begun their message.
 *
 *     struct queue_hold *hold = queue_hold_new(pool, jobs, n, grace_ns);
 *     queue_hold_set(hold, job, job->message->hold_ns);   // 0: for as long as it takes
 *     ...
 *     if (queue_hold_over(job))                           // too late to begin
 *     ...
 *     queue_hold_free(hold);
 *
 * Some brokers know until when a message is ours for certain (message->hold_ns): after
 * that another worker may start it. A handler is asked to stop `grace_ns` before that, and
 * ended then. This is done by a thread of its own, because that of the worker may be
 * waiting for a server that does not answer. It looks once a second while something is
 * held: the clock is one that goes on while the machine sleeps, for which nobody can wait.
 *
 * Threads: queue_hold_over() is anybody's, the others are the worker's. */
#ifndef BIDE_QUEUE_HOLD_H
#define BIDE_QUEUE_HOLD_H

#include "queue/pool.h"

struct queue_hold;

/* NULL: no memory, or no thread. */
struct queue_hold *queue_hold_new(struct queue_pool *pool, struct queue_job *jobs,
                                  size_t n, int64_t grace_ns);
void queue_hold_free(struct queue_hold *h);

/* Its handler must be gone by then; 0: there is no such time. */
void queue_hold_set(struct queue_hold *h, struct queue_job *job, int64_t until_ns);

/* Is its time over? */
bool queue_hold_over(const struct queue_job *job);

#endif
