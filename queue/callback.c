/* A C function as the handler of messages. */
#include "queue/callback.h"

#include <stdio.h>

static void run(const struct queue_handler *h, void *slot,
                struct queue_job *job)
{
    const struct queue_callback *c = (const struct queue_callback *)h;

    (void)slot;
    job->out = c->fn(c->ctx, job);
    if (job->out.cls != BIDE_SUCCESS && !job->text[0])
        snprintf(job->text, sizeof job->text, "%s",
                 bide_class_name(job->out.cls));
}

const struct queue_handler_kind queue_callback_kind = { .run = run };
