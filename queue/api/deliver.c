/* From a job to the program's function, and from what that returns to an outcome. */
#include "queue/api/deliver.h"

#include <stdio.h>

#include "bide/policy.h"
#include "bide/run.h"

void delivery_of(struct delivery *d, const char *queue,
                 const struct queue_message *m)
{
    size_t n = m->n_attributes < QUEUE_ATTRIBUTES_MAX ? m->n_attributes
                                                      : QUEUE_ATTRIBUTES_MAX;

    queue_idempotency_key(d->key, queue, m);
    for (size_t i = 0; i < n; i++)
        d->attributes[i] = (bide_queue_attribute){ m->attributes[i].name,
                                                   m->attributes[i].value };
    d->job = NULL;
    d->until_ns = BIDE_FOREVER;
    d->message = (bide_queue_message){
        .id = m->id,
        .key = m->key,
        .queue = queue,
        .idempotency_key = d->key,
        .body = (const char *)m->body,
        .len = m->body_len,
        .attributes = d->attributes,
        .n_attributes = (uint32_t)n,
        .priority = m->priority,
        .attempt = m->attempt,
        .deliveries = m->deliveries,
        .deaths = m->deaths,
        .timeout_ns = BIDE_FOREVER,
        .queued_ms = m->queued_ms,
        .errors = m->errors,
    };
}

void delivery_of_job(struct delivery *d, const struct queue_job *job)
{
    delivery_of(d, job->queue, job->message);
    d->message.attempt = job->attempt;
    d->message.attempts = job->attempts;
    d->message.timeout_ns = job->timeout_ns;
    d->job = (struct queue_job *)(uintptr_t)job; /* its text and tail are ours */
}

static bool timed_out(const struct delivery *d)
{
    return d->until_ns != BIDE_FOREVER && bide_now_ns() >= d->until_ns;
}

/* What no attempt can have come to is a failure of the handler's. */
static bide_outcome checked(const struct delivery *d, bide_outcome out)
{
    if ((unsigned)out.cls < BIDE_N_CLASSES && out.cls != BIDE_IGNORED)
        return out;
    if (out.cls == BIDE_IGNORED &&
        atomic_load(&d->job->stop) != QUEUE_GO_ON)
        return out;
    if (!d->job->text[0])
        snprintf(d->job->text, sizeof d->job->text, "%s",
                 out.cls != BIDE_IGNORED ? "the handler returned no outcome"
                 : timed_out(d)          ? "timeout"
                                         : "given back");
    return (bide_outcome){ .cls = BIDE_TRANSIENT,
                           .fault = timed_out(d) ? BIDE_FAULT_TIMEOUT
                                                 : BIDE_FAULT_NONE };
}

bide_outcome deliver(const struct queue_job *job, bide_queue_fn fn, void *ctx)
{
    struct delivery d;

    delivery_of_job(&d, job);
    if (job->timeout_ns != BIDE_FOREVER)
        d.until_ns = bide_now_ns() + job->timeout_ns;
    return checked(&d, fn(ctx, &d.message));
}

/* ===== what a handler may say and ask ===== */

bool bide_queue_stopping(const bide_queue_message *m)
{
    const struct delivery *d = (const struct delivery *)m;

    return m && d->job &&
           (atomic_load(&d->job->stop) != QUEUE_GO_ON || timed_out(d));
}

void bide_queue_error(const bide_queue_message *m, const char *text)
{
    const struct delivery *d = (const struct delivery *)m;

    if (m && d->job && text)
        snprintf(d->job->text, sizeof d->job->text, "%s", text);
}

void bide_queue_output(const bide_queue_message *m, const void *data,
                       size_t len)
{
    const struct delivery *d = (const struct delivery *)m;

    if (m && d->job && data)
        queue_job_tail(d->job, data, len);
}
