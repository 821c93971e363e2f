/* queue/callback.h: a C function as the handler of messages.
 *
 *     static bide_outcome greet(void *ctx, const struct queue_job *job)
 *     {
 *         (void)ctx;
 *         printf("%.*s\n", (int)job->message->body_len, job->message->body);
 *         return (bide_outcome){ .cls = BIDE_SUCCESS };
 *     }
 *     struct queue_callback c = { { &queue_callback_kind }, greet, NULL };
 *
 * It is called from the threads of the pool, several at once. */
#ifndef BIDE_QUEUE_CALLBACK_H
#define BIDE_QUEUE_CALLBACK_H

#include "queue/handler.h"

struct queue_callback {
    struct queue_handler handler; /* first */
    bide_outcome (*fn)(void *ctx, const struct queue_job *job);
    void *ctx;
};

extern const struct queue_handler_kind queue_callback_kind;

#endif
