/* queue/api/api.h: what is behind bide_queue, and how its functions fail.
 *
 *     if (!queue)
 *         return queue_fail(why, BIDE_EINVAL, "the queue is NULL");
 *     pthread_mutex_lock(&queue->lock);
 *     int status = queue->broker->kind->put(queue->broker, items, n);
 *     int rc = queue_status(why, status, queue->broker->error);
 *     pthread_mutex_unlock(&queue->lock);
 */
#ifndef BIDE_QUEUE_API_API_H
#define BIDE_QUEUE_API_API_H

#include <pthread.h>

#include "bide/queue.h"
#include "queue/broker.h"

/* Threads: shared; the lock is around every verb of the broker. */
struct bide_queue {
    pthread_mutex_t lock;
    struct broker *broker;    /* to put and to look; workers have their own */
    char *url;                /* NULL: the state folder */
    char name[QUEUE_NAME_MAX + 1];
};

/* Writes why, if anybody wants to know, and returns rc. */
int queue_fail(char *why, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The status of a verb as an error of the library, with its text. */
int queue_status(char *why, int status, const char *error);

#endif
