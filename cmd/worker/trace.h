/* bide worker: a span for each delivery, and decisions for the dashboard.
 *
 *     struct worker_trace t = { .queue = "mail", .system = "sqlite" };
 *     if (!worker_trace_init(&t, collector))
 *         ...                                     // no memory
 *     worker_trace_start(&t, job);                // an attempt begins
 *     worker_trace_event(&t, event);              // ... and ended
 *
 * The parent of a span is what the attribute `traceparent` of the message says,
 * and whether it is recorded as well; other messages are sampled. The handler
 * gets the span as its parent. */
#ifndef BIDE_CMD_WORKER_TRACE_H
#define BIDE_CMD_WORKER_TRACE_H

#include "observe/event/collector.h"
#include "observe/event/traceparent.h"
#include "queue/worker.h"

/* All zero: nothing is told. Threads: owned, by the worker's. */
struct worker_trace {
    const char *queue, *system;
    struct bide__ring *ring;
    struct bide__ids ids;
    bool spans;        /* somebody wants them */
    double sample;     /* of those that do not say it themselves */
    uint32_t attempts; /* that the policy allows */
};

/* Before the collector starts. */
bool worker_trace_init(struct worker_trace *t,
                       struct bide__collector *collector);
void worker_trace_start(struct worker_trace *t, struct queue_job *job);
void worker_trace_event(struct worker_trace *t, const struct queue_event *e);

#endif
