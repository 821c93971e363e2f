/* queue/walk.h: listing a queue, for brokers that have to go through their messages
 * themselves.
 *
 *     static int all(void *broker, struct queue_walk *w)
 *     {
 *         struct broker_row row = { .state = BROKER_IS_WAITING };
 *         while (next_row(broker, &row) && queue_walk_tell(w, &row))
 *             continue;
 *         return 0;
 *     }
 *
 *     int status = queue_walk(filter, fn, arg, all, broker);
 *
 * `all` goes through them from the first on. An id in the filter is that of a message; if
 * none has it, those that begin like it are meant. So `all` may be called twice. */
#ifndef BIDE_QUEUE_WALK_H
#define BIDE_QUEUE_WALK_H

#include "queue/broker.h"

/* Threads: owned. */
struct queue_walk {
    const struct broker_filter *filter;
    broker_each *fn;
    void *arg;
    size_t told;
    bool begins; /* ids that begin like the filter's are meant as well */
    bool enough;
};

/* Tells whoever walks about a row, if that is wanted. False: enough. */
bool queue_walk_tell(struct queue_walk *w, const struct broker_row *row);

/* 0, or the status of `all`, which is called with `self`. */
int queue_walk(const struct broker_filter *filter, broker_each *fn, void *arg,
               int (*all)(void *self, struct queue_walk *w), void *self);

#endif
