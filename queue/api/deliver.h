/* queue/api/deliver.h: a delivery as a program sees it.
 *
 *     struct delivery d;
 *     delivery_of(&d, "default", job->message);
 *     bide_outcome out = fn(ctx, &d.message);
 *
 * Invariant: a bide_queue_message that a program is given is the first member of a
 * delivery. */
#ifndef BIDE_QUEUE_API_DELIVER_H
#define BIDE_QUEUE_API_DELIVER_H

#include "bide/queue.h"
#include "queue/handler.h"
#include "queue/key.h"

/* On the stack of whoever shows it. Threads: owned. */
struct delivery {
    bide_queue_message message; /* first */
    struct queue_job *job;      /* that runs; NULL: it is only looked at */
    int64_t until_ns;           /* when its time is over; BIDE_FOREVER */
    bide_queue_attribute attributes[QUEUE_ATTRIBUTES_MAX];
    char key[QUEUE_IDEMPOTENCY_KEY];
};

void delivery_of(struct delivery *d, const char *queue,
                 const struct queue_message *m);

/* Of a job: with its number and its time. */
void delivery_of_job(struct delivery *d, const struct queue_job *job);

/* Has the job handled. */
bide_outcome deliver(const struct queue_job *job, bide_queue_fn fn, void *ctx);

#endif
