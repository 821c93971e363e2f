/* proxy/exchange/events.h: events for observers: one for each attempt that
 * failed, for each retry, for each call that was refused, and for all of them if
 * the request is traced.
 *
 *     event_begin(ex);                     // reads the caller's traceparent
 *     event_report(ex, a, &outcome);       // an attempt has ended, ...
 *     event_decision(ex, &d);              // ... and this was decided
 *     event_over(ex);
 *
 * Events go into the worker's ring, which never waits (observe/event/ring.h). A
 * worker without a ring emits none, and a request that succeeds at once and is
 * not traced costs a comparison at each of these. Threads: owned, by the worker. */
#ifndef BIDE_PROXY_EXCHANGE_EVENTS_H
#define BIDE_PROXY_EXCHANGE_EVENTS_H

#include "observe/event/event.h"
#include "observe/event/ring.h"
#include "observe/event/traceparent.h"

struct attempt;
struct endpoint;
struct exchange;
struct worker;

/* A worker's part of it. */
struct event_writer {
    struct bide__ring *ring; /* NULL: no observer */
    struct bide__ids ids;
    uint64_t sample; /* how many of 2^32 requests are traced */
    bool traces;     /* spans are exported */
};

/* The wait before a retry: before jitter, as drawn, and actual. */
struct event_wait {
    int64_t computed_ns, asked_ns, slept_ns;
};

/* An attempt that was reported, but whose decision is not known yet. */
struct pending_event {
    uint32_t attempt; /* 0: none */
    uint8_t why;      /* bide_reason that it was made for */
    uint8_t span_id[8];
    uint8_t grpc; /* as in an event */
    bool http2;   /* likewise */
    const char *stream; /* likewise */
    const struct endpoint *endpoint;
    int64_t begin_ns;
    struct event_wait before;
};

/* The collector of all workers. Threads: immutable. */
struct bide__collector;
struct event_conf {
    struct bide__collector *collector; /* NULL: none */
    bool traces;
    double sample;
};

/* Gives a worker its ring. False: no memory. */
bool event_open(struct worker *w, const struct event_conf *conf);

/* Call it once on the worker's thread: breaker events go there. */
void event_thread(struct worker *w);

void event_begin(struct exchange *ex);
void event_attempt(struct attempt *a, bide_reason why);
void event_report(struct exchange *ex, const struct attempt *a,
                  const bide_outcome *out);
void event_decision(struct exchange *ex, const bide_decision *d);
void event_lost(struct attempt *a);
void event_over(struct exchange *ex);

/* For bide_host.on_breaker; ctx does not matter. */
void event_breaker(void *ctx, const bide_dep *dep, bide_breaker_state from,
                   bide_breaker_state to, int64_t now_ns);

/* Whether the trace of a request began here. */
bool event_new_trace(const struct exchange *ex);

/* Whether the attempt has a traceparent of its own to send; writes it. */
bool event_traceparent(const struct attempt *a, char to[BIDE__TRACEPARENT + 1]);

#endif
