/* queue/pool.h: threads that run handlers.
 *
 *     struct queue_pool *pool = queue_pool_new(handler, 4);
 *     queue_pool_give(pool, &jobs);               // a list; never blocks
 *     ...                                         // queue_pool_fd() is readable
 *     queue_pool_reap(pool, &ended);
 *     queue_pool_free(pool);                      // after all have ended
 *
 * Threads: give, reap, enough and stop are the worker's. */
#ifndef BIDE_QUEUE_POOL_H
#define BIDE_QUEUE_POOL_H

#include "queue/handler.h"

struct queue_pool;

/* NULL: no memory, no threads. */
struct queue_pool *queue_pool_new(const struct queue_handler *handler,
                                  unsigned threads);
void queue_pool_free(struct queue_pool *pool);

/* Moves the jobs of a list to the threads; the list is empty afterwards. */
void queue_pool_give(struct queue_pool *pool, struct bide__list *jobs);

/* Takes back those that no thread has begun, at the end of `to`. */
void queue_pool_recall(struct queue_pool *pool, struct bide__list *to);

/* Moves those that have ended to the end of a list. */
void queue_pool_reap(struct queue_pool *pool, struct bide__list *to);

/* How many must have ended before queue_pool_fd() says so; 1 at first. */
void queue_pool_enough(struct queue_pool *pool, unsigned n);

/* Asks a job to stop, wherever it is. */
void queue_pool_stop(struct queue_pool *pool, struct queue_job *job,
                     enum queue_stop how);

/* Readable while there is enough to reap. */
int queue_pool_fd(const struct queue_pool *pool);

#endif
