/* Events of exchanges. */
#include "proxy/exchange/events.h"

#include <string.h>

#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/stream/stream.h"
#include "observe/event/collector.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/link.h"
#include "proxy/back/pool.h"
#include "proxy/back/service.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/request.h"
#include "proxy/exchange/route.h"
#include "proxy/front/client.h"
#include "proxy/worker.h"

/* ===== workers ===== */

/* Breakers change state inside the engine, which does not know workers. */
static _Thread_local struct bide__ring *here;

bool event_open(struct worker *w, const struct event_conf *conf)
{
    struct event_writer *t = &w->tell;

    if (!conf->collector)
        return true;
    t->traces = conf->traces;
    t->sample = (uint64_t)(conf->sample * 4294967296.0);
    t->ring = bide__collector_ring(conf->collector);
    return t->ring && bide__ids_init(&t->ids);
}

void event_thread(struct worker *w)
{
    here = w->tell.ring;
}

static struct event_writer *writer_of(const struct exchange *ex)
{
    return &ex->worker->tell;
}

static bool is_traced(const struct exchange *ex)
{
    return ex->trace.sampled;
}

/* ===== traces ===== */

void event_begin(struct exchange *ex)
{
    struct event_writer *t = writer_of(ex);
    const struct http1_field *f;

    if (!t->traces)
        return;
    f = http1_find(&ex->req, HTTP1_ID_TRACEPARENT);
    if (f && bide__traceparent_read(&ex->trace, exchange_bytes(ex) + f->value,
                                    f->value_len)) {
        if (ex->trace.sampled)
            bide__trace_enter(&ex->trace, &t->ids);
    } else if ((worker_random(ex->worker) & UINT32_MAX) < t->sample) {
        bide__trace_start(&ex->trace, &t->ids, true);
    }
}

bool event_new_trace(const struct exchange *ex)
{
    static const uint8_t none[sizeof ex->trace.parent_id];
    return is_traced(ex) && memcmp(ex->trace.parent_id, none, sizeof none) == 0;
}

void event_attempt(struct attempt *a, bide_reason why)
{
    struct exchange *ex = a->ex;

    a->why = (uint8_t)why;
    if (!writer_of(ex)->ring)
        return;
    if (why != BIDE_BECAUSE_HEDGE) {
        if (a->number > 1)
            a->before = ex->wait;
        ex->wait = (struct event_wait){ 0, 0, 0 }; /* the next may have none */
    }
    if (is_traced(ex)) {
        struct bide__trace t =
            bide__trace_child(&ex->trace, &writer_of(ex)->ids);
        memcpy(a->span_id, t.span_id, sizeof a->span_id);
    }
}

bool event_traceparent(const struct attempt *a, char to[BIDE__TRACEPARENT + 1])
{
    struct bide__trace t = a->ex->trace;

    if (!is_traced(a->ex))
        return false;
    memcpy(t.span_id, a->span_id, sizeof t.span_id);
    bide__traceparent_write(&t, to);
    return true;
}

/* ===== filling events in ===== */

_Static_assert((int)BIDE__PROXY_DEP_NAME < (int)BIDE__DEP_NAME,
               "the name of a dependency is never cut");

/* "GET /pay/17", as much of it as fits. */
static void put_operation(struct bide__event *e, const struct exchange *ex)
{
    char text[80];
    const char *from = exchange_bytes(ex), *path = from + ex->req.path;
    size_t len = ex->req.method_len;

    if (len > sizeof text / 2)
        len = sizeof text / 2;
    memcpy(text, from + ex->req.method, len);
    text[len++] = ' ';
    size_t more = bide__event_fits(path, ex->req.path_len, sizeof text - len);
    memcpy(text + len, path, more);
    bide__event_put(e, BIDE__OPERATION, text, len + more);
}

static void put_request_id(struct bide__event *e, const struct exchange *ex)
{
    size_t len;
    const char *id = exchange_request_id(ex, &len);
    if (id)
        bide__event_put(e, BIDE__REQUEST_ID, id, len);
}

static void put_text(struct bide__event *e, enum bide__event_text which,
                     const char *text)
{
    bide__event_put(e, which, text, strlen(text));
}

static void describe(struct bide__event *e, const struct exchange *ex,
                     const struct endpoint *endpoint)
{
    bide_dep *dep = ex->route->service->dep;

    e->attempts = bide_dep_policy(dep)->attempts;
    put_text(e, BIDE__DEP, bide_dep_name(dep));
    put_operation(e, ex);
    put_request_id(e, ex);
    if (endpoint)
        put_text(e, BIDE__ENDPOINT, endpoint->authority);
    e->trace = ex->trace;
    e->rpc = ex->grpc;
}

/* ===== attempts ===== */

/* What the response says in `grpc-status`: in the trailers of a call, or where there
 * is nothing else to send, as with gRPC-Web over HTTP/1.1, in the head. */
static uint8_t grpc_of(const struct attempt *a)
{
    const struct http1_field *f;
    int code = 0;

    if (a->ex->grpc)
        return a->phase < ATTEMPT_ANSWERED ? 0 : (uint8_t)(a->grpc_status + 1);
    if (a->phase < ATTEMPT_ANSWERED || !a->in ||
        !http1_has(&a->resp, HTTP1_ID_GRPC_STATUS))
        return 0;
    f = http1_find(&a->resp, HTTP1_ID_GRPC_STATUS);
    const char *digits = net_buf_at(a->in) + f->value;
    for (unsigned i = 0; i < f->value_len; i++) {
        if (digits[i] < '0' || digits[i] > '9' || code >= BIDE_N_GRPC)
            return 0;
        code = 10 * code + digits[i] - '0';
    }
    return f->value_len && code < BIDE_N_GRPC ? (uint8_t)(code + 1) : 0;
}

static struct pending_event pending_of(const struct attempt *a)
{
    struct pending_event t = { .attempt = a->number,
                               .why = a->why,
                               .grpc = grpc_of(a),
                               .http2 = a->link && stream_of(&a->link->conn),
                               .stream = a->link ? stream_end(&a->link->conn)
                                                 : NULL,
                               .endpoint = a->pool ? a->pool->endpoint : NULL,
                               .begin_ns = a->begin_ns,
                               .before = a->before };

    memcpy(t.span_id, a->span_id, sizeof t.span_id);
    return t;
}

/* The attempt may be gone when its decision is made: its data is kept. */
void event_report(struct exchange *ex, const struct attempt *a,
                  const bide_outcome *out)
{
    bool usual = out->cls == BIDE_SUCCESS && a->number == 1;

    if (!writer_of(ex)->ring || (usual && !is_traced(ex)))
        return;
    ex->pending = pending_of(a);
    if (!ex->pending.endpoint)
        ex->pending.endpoint = ex->endpoint;
}

static void put_attempt(struct bide__event *e, const struct exchange *ex,
                        const struct pending_event *t)
{
    describe(e, ex, t->endpoint);
    e->grpc = t->grpc;
    e->http2 = t->http2;
    e->stream = ex->last.fault ? t->stream : NULL;
    e->computed_ns = t->before.computed_ns;
    e->asked_ns = t->before.asked_ns;
    e->slept_ns = t->before.slept_ns;
    memcpy(e->trace.parent_id, ex->trace.span_id, sizeof e->trace.parent_id);
    memcpy(e->trace.span_id, t->span_id, sizeof e->trace.span_id);
}

void event_decision(struct exchange *ex, const bide_decision *d)
{
    struct pending_event t = ex->pending;
    struct bide__event *e;
    bide_verdict verdict;

    if (t.attempt == 0)
        return;
    ex->pending.attempt = 0;
    bool judged = ex->last.cls != BIDE_SUCCESS &&
                  bide_call_verdict(&ex->call, &verdict) == 0;
    if (judged && d->action == BIDE_WAIT && d->reason != BIDE_BECAUSE_RUNNING)
        ex->wait = (struct event_wait){ verdict.value_ns, verdict.wait_ns, 0 };
    if (!(e = bide__ring_next(writer_of(ex)->ring)))
        return;
    bide__event_attempt(e, t.attempt, (bide_reason)t.why, &ex->last, t.begin_ns,
                        ex->worker->loop.now_ns);
    if (ex->last.cls != BIDE_SUCCESS)
        bide__event_decision(e, d, judged ? &verdict : NULL);
    e->elapsed_ns = ex->worker->loop.now_ns - ex->begin_ns;
    put_attempt(e, ex, &t);
    bide__ring_commit(writer_of(ex)->ring);
}

/* A hedge, or what it overtook: it ends without a report of its own. */
void event_lost(struct attempt *a)
{
    struct exchange *ex = a->ex;
    bide_outcome ignored = { .cls = BIDE_IGNORED,
                             .fault = BIDE_FAULT_CANCELLED };
    struct bide__event *e;

    if (!is_traced(ex) || !(e = bide__ring_next(writer_of(ex)->ring)))
        return;
    struct pending_event t = pending_of(a);
    bide__event_attempt(e, a->number, (bide_reason)a->why, &ignored,
                        a->begin_ns, ex->worker->loop.now_ns);
    put_attempt(e, ex, &t);
    bide__ring_commit(writer_of(ex)->ring);
}

/* ===== calls ===== */

void event_over(struct exchange *ex)
{
    bool unsent = ex->tries == 0 && ex->reason != BIDE_BECAUSE_SUCCESS;
    bool notable = unsent || ex->reason == BIDE_BECAUSE_CUT_SHORT;
    struct bide__event *e;

    if (!ex->route || (!is_traced(ex) && !notable) || !writer_of(ex)->ring ||
        !(e = bide__ring_next(writer_of(ex)->ring)))
        return;
    bide__event_call(e, ex->tries, (bide_reason)ex->reason,
                     ex->reported ? &ex->last : NULL, ex->begin_ns,
                     ex->worker->loop.now_ns);
    e->slept_ns = ex->waited_ns;
    e->status = ex->status;
    e->http2 = ex->client->is_stream;
    e->grpc = ex->grpc ? (uint8_t)(ex->grpc_status + 1) : 0;
    describe(e, ex, ex->endpoint);
    bide__ring_commit(writer_of(ex)->ring);
}

void event_breaker(void *ctx, const bide_dep *dep, bide_breaker_state from,
                   bide_breaker_state to, int64_t now_ns)
{
    struct bide__event *e = here ? bide__ring_next(here) : NULL;

    (void)ctx;
    if (!e)
        return;
    bide__event_breaker(e, bide_dep_name(dep), from, to, now_ns);
    bide__ring_commit(here);
}
