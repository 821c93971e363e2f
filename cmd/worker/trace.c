/* Events of deliveries, for spans and for the list of decisions. */
#include "cmd/worker/trace.h"

#include <string.h>
#include <strings.h>

_Static_assert(sizeof((struct queue_job *)0)->traceparent ==
                   BIDE__TRACEPARENT + 1,
               "there is room for it");

bool worker_trace_init(struct worker_trace *t,
                       struct bide__collector *collector)
{
    t->ring = bide__collector_ring(collector);
    return t->ring && bide__ids_init(&t->ids);
}

static const char *traceparent_of(const struct queue_message *m)
{
    for (size_t i = 0; i < m->n_attributes; i++)
        if (strcasecmp(m->attributes[i].name, "traceparent") == 0)
            return m->attributes[i].value;
    return NULL;
}

/* Whether a message that does not say so itself is in the sample: by its id, so
 * that all its deliveries are, or none. */
static bool is_sampled(const struct worker_trace *t,
                       const struct queue_message *m)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (const char *c = m->id; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    hash ^= hash >> 15;
    hash *= 0x2c1b3c6du;
    hash ^= hash >> 16;
    return hash < t->sample * 4294967296.0;
}

void worker_trace_start(struct worker_trace *t, struct queue_job *job)
{
    const char *parent;

    job->trace = (struct bide__trace){ .sampled = false };
    if (!t->spans)
        return;
    parent = traceparent_of(job->message);
    if (parent &&
        bide__traceparent_read(&job->trace, parent, strlen(parent))) {
        if (job->trace.sampled)
            bide__trace_enter(&job->trace, &t->ids);
    } else if (is_sampled(t, job->message)) {
        bide__trace_start(&job->trace, &t->ids, true);
    }
    if (job->trace.sampled)
        bide__traceparent_write(&job->trace, job->traceparent);
}

/* What was decided, in the engine's words. */
static void decide(struct bide__event *to, const struct queue_verdict *v)
{
    bide_verdict wait = { .wait_ns = v->delay_ns };
    bide_decision d = { .action = v->how == BROKER_AGAIN ? BIDE_WAIT
                                                         : BIDE_DONE,
                        .reason = v->how == BROKER_DONE
                                      ? BIDE_BECAUSE_SUCCESS
                                  : v->how == BROKER_DEAD || v->down
                                      ? v->reason
                                      : BIDE_BECAUSE_BACKOFF };

    bide__event_decision(to, &d, v->how == BROKER_DONE ? NULL : &wait);
    to->value_ns = v->delay_ns;
}

static void put(struct bide__event *e, enum bide__event_text which,
                const char *text)
{
    bide__event_put(e, which, text, strlen(text));
}

void worker_trace_event(struct worker_trace *t, const struct queue_event *e)
{
    const struct queue_job *job = e->job;
    struct bide__event *to;

    if (!t->ring || e->kind != QUEUE_ENDED || !job->running ||
        (job->out.cls == BIDE_SUCCESS && !job->trace.sampled &&
         job->attempt == 1))
        return;
    to = bide__ring_next(t->ring);
    if (!to)
        return; /* counted there */
    bide__event_attempt(to, job->attempt,
                        job->attempt > 1 ? BIDE_BECAUSE_BACKOFF
                                         : BIDE_BECAUSE_FIRST,
                        &job->out, job->begin_ns, job->end_ns);
    decide(to, e->verdict);
    to->delivery = true;
    to->attempts = t->attempts;
    to->trace = job->trace;
    put(to, BIDE__DEP, t->queue);
    put(to, BIDE__OPERATION, job->message->id);
    put(to, BIDE__ENDPOINT, t->system);
    bide__ring_commit(t->ring);
}
