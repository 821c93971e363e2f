/* The life cycle of an attempt, except for what it sends and reads. */
#include "proxy/back/request_counts.h"
#include "proxy/exchange/attempt.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "net/buf.h"
#include "net/conn.h"
#include "net/stream/stream.h"
#include "proxy/back/balance.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/knock.h"
#include "proxy/back/link.h"
#include "proxy/back/pool.h"
#include "proxy/back/service.h"
#include "proxy/back/upstream.h"
#include "proxy/exchange/answer.h"
#include "proxy/exchange/attempt_io.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/fallback.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/route.h"
#include "proxy/exchange/tunnel.h"
#include "proxy/front/client.h"
#include "proxy/once/once.h"
#include "proxy/once/record.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

enum { FREE_ATTEMPTS = NET_SPARES(256) };

static struct worker *worker_of(const struct attempt *a)
{
    return a->ex->worker;
}

/* ===== time ===== */

/* Its time was spent waiting for a connection. Without a descriptor, another
 * attempt would fare no better. */
static void late_in_line(struct attempt *a)
{
    bool starved = !a->making && pool_starved(a->pool, a->begin_ns);
    if (starved && a->ex->running == a && !a->next)
        own_answer(a->ex, &(struct own_answer){
                              .status = 503,
                              .problem = "descriptors",
                              .title = "Service Unavailable",
                              .detail = "no descriptor was free for a "
                                        "connection to the endpoint",
                              .refusal = true,
                              .retry_ns = BIDE_SECOND });
    else
        attempt_fail(
            a, starved                                  ? BIDE_FAULT_LOCAL
               : endpoint_is_pending(a->pool->endpoint) ? BIDE_FAULT_DNS
               : a->phase == ATTEMPT_CONNECTING         ? BIDE_FAULT_TIMEOUT
                                                : BIDE_FAULT_CONNECTION_WAIT);
}

/* Before the response: the engine's timeout. After: how long the endpoint may
 * be silent in the middle of it. */
static void late(struct attempt *a)
{
    switch ((enum attempt_phase)a->phase) {
    case ATTEMPT_HELD_UP:
        fault_over(a);
        break;
    case ATTEMPT_IN_LINE:
    case ATTEMPT_CONNECTING:
        late_in_line(a);
        break;
    case ATTEMPT_ANSWERED:
        attempt_judge(a);
        break;
    case ATTEMPT_PASSED_ON:
        answer_broken(a->ex);
        break;
    default:
        attempt_fail(a, a->sending == SENT_WHAT_CAME ? BIDE_FAULT_UPLOAD
                                                     : BIDE_FAULT_TIMEOUT);
    }
}

static void on_time(struct net_timer *t)
{
    struct attempt *a = bide__container_of(t, struct attempt, timer);
    struct net_loop *loop = &worker_of(a)->loop;
    if (a->until_ns == BIDE_FOREVER)
        return;
    if (loop->now_ns < a->until_ns)
        net_timer_set(loop, t, a->until_ns);
    else
        late(a);
}

void attempt_until(struct attempt *a, int64_t at_ns)
{
    a->until_ns = at_ns;
    if (at_ns != BIDE_FOREVER &&
        (!bide__timer_is_set(&a->timer.timer) || a->timer.timer.at_ns > at_ns))
        net_timer_set(&worker_of(a)->loop, &a->timer, at_ns);
}

void attempt_started(struct attempt *a)
{
    int64_t now = worker_of(a)->loop.now_ns;
    if (now != a->begin_ns) {
        bide_call_started(&a->ex->call, a->number, now, &a->timeout_ns);
        if (a->permit_held)
            bide_call_started(&a->permit, 1, now, NULL);
        if (a->ex->once)
            a->timeout_ns = once_timeout(a->ex, a->timeout_ns);
    }
    attempt_until(a, net_after(now, a->timeout_ns));
}

/* ===== beginning and end ===== */

static void on_task(struct net_task *t)
{
    attempt_ready(bide__container_of(t, struct attempt, task));
}

void attempt_later(struct attempt *a)
{
    net_task_later(&worker_of(a)->loop, &a->task);
}

/* Without memory it is the worker's spare one, which can only fail. */
static struct attempt *attempt_new(struct exchange *ex)
{
    struct worker *w = ex->worker;
    struct attempt *a = w->free_attempts;
    if (a) {
        w->free_attempts = a->next;
        w->n_free_attempts--;
    } else if (!(a = malloc(sizeof *a))) {
        a = w->spare_attempt;
    }
    memset(a, 0, offsetof(struct attempt, permit));
    a->ex = ex;
    a->timer.fire = on_time;
    a->task.run = on_task;
    a->next = ex->running;
    ex->running = a;
    return a;
}

static void attempt_free(struct attempt *a)
{
    struct worker *w = worker_of(a);
    net_buf_give(&w->bufs, a->head);
    net_buf_give(&w->bufs, a->in);
    if (a == w->spare_attempt)
        return;
    if (w->n_free_attempts == FREE_ATTEMPTS) {
        free(a);
        return;
    }
    w->n_free_attempts++;
    a->next = w->free_attempts;
    w->free_attempts = a;
}

void attempt_unlink(struct attempt *a)
{
    struct link *l = a->link;
    struct pool *p = a->pool;
    net_timer_cancel(&worker_of(a)->loop, &a->timer);
    net_task_cancel(&a->task);
    if (!p)
        return;
    pool_leave(p, a);
    if (a->making)
        link_close(a->making);
    a->pool = NULL;
    a->link = NULL;
    gauge_down(&p->in_flight);
    if (l && attempt_reusable(a))
        link_release(l);
    else if (l)
        link_close(l);
    if (p->retired && gauged(&p->in_flight) == 0)
        pool_retire(p);
}

static void list_remove(struct attempt *a)
{
    struct attempt **at = &a->ex->running;
    while (*at && *at != a)
        at = &(*at)->next;
    if (*at)
        *at = a->next;
}

/* Counts a failure of the endpoint, reports to its breaker, and releases the
 * permit. NULL: the outcome is unknown. */
static void judge_endpoint(struct attempt *a, const bide_outcome *out)
{
    if (a->pool && out && out->cls != BIDE_SUCCESS && out->cls != BIDE_IGNORED)
        count(&a->pool->endpoint->counts->of[worker_of(a)->index].failures);
    if (!a->permit_held)
        return;
    int64_t now = worker_of(a)->loop.now_ns;
    a->permit_held = false;
    if (out)
        bide_call_report(&a->permit, 1, out, now);
    bide_call_end(&a->permit, now);
}

/* Nobody was at its endpoint. That is for the background to watch, and nothing
 * that the endpoint's breaker has to judge; another endpoint may be there. */
static void report_missed(struct attempt *a, const bide_outcome *out)
{
    struct endpoint *e = a->pool->endpoint;
    bide_outcome missed = *out, seen = *out;
    if (out->fault == BIDE_FAULT_CONNECT || out->fault == BIDE_FAULT_TIMEOUT)
        knock_begin(worker_of(a), e);
    missed.elsewhere = endpoint_elsewhere(e->upstream);
    seen.cls = BIDE_IGNORED;
    judge_endpoint(a, &seen);
    exchange_report(a->ex, a, &missed);
    attempt_move(a, ATTEMPT_JUDGED);
}

void attempt_report(struct attempt *a, const bide_outcome *out)
{
    bide_outcome seen = exchange_blame(a->ex, a, out);
    /* Not where the client's own deadline cut the connecting short: a stranger
     * could take endpoints out of use by it. */
    if (a->pool && a->pool->endpoint->upstream->n_endpoints > 1 &&
        bide_outcome_unreached(&seen)) {
        report_missed(a, out);
        return;
    }
    seen = bide__server_outcome(&seen, a->resp.status);
    if (out->fault == BIDE_FAULT_REFUSED_STREAM && a->nth == 1)
        seen.cls = BIDE_IGNORED; /* it may be about to end, in good order */
    judge_endpoint(a, &seen);
    exchange_report(a->ex, a, out);
    attempt_move(a, ATTEMPT_JUDGED);
}

void attempt_end(struct attempt *a)
{
    struct exchange *ex = a->ex;
    if (a->phase < ATTEMPT_JUDGED)
        event_lost(a);
    if (a->phase < ATTEMPT_JUDGED && a->sending != SENT_NOTHING && ex->once)
        once_lost(ex);
    if (a->copy)
        copy_end(a);
    if (a->record)
        once_record_free(a);
    list_remove(a);
    if (ex->saved == a)
        ex->saved = NULL;
    if (ex->winner == a)
        ex->winner = NULL;
    judge_endpoint(a, NULL);
    attempt_unlink(a);
    attempt_move(a, ATTEMPT_OVER);
    attempt_free(a);
}

void attempt_save(struct attempt *a)
{
    struct exchange *ex = a->ex;
    list_remove(a);
    if (ex->saved)
        attempt_end(ex->saved);
    ex->saved = a;
    attempt_unlink(a);
    attempt_move(a, ATTEMPT_SAVED);
}

/* ===== failing ===== */

/* Whether its endpoint has provably not begun with it: HTTP/2 proves what
 * HTTP/1.1 leaves open. */
static bool was_put_aside(const struct attempt *a)
{
    const struct stream *s = a->link ? stream_of(&a->link->conn) : NULL;
    return s && s->dead && s->not_processed && a->phase == ATTEMPT_ASKING;
}

static bide_outcome outcome_of(const struct attempt *a, bide_fault fault)
{
    bide_response r = { .fault = fault,
                        .not_sent =
                            a->sending == SENT_NOTHING && !a->injected };
    char method[METHOD_TEXT];
    r.method = exchange_method(a->ex, method);
    return bide_classify(a->ex->route->service->dep, &r);
}

void attempt_fail(struct attempt *a, bide_fault fault)
{
    struct exchange *ex = a->ex;
    if (fault == BIDE_FAULT_RESET && was_put_aside(a))
        fault = BIDE_FAULT_REFUSED_STREAM;
    bide_outcome out = outcome_of(a, fault);
    ex->fault = (uint8_t)fault;
    ex->broke = a->link ? stream_end(&a->link->conn) : NULL;
    if (ex->once)
        once_judge(a, &out);
    attempt_report(a, &out);
    attempt_end(a);
    exchange_later(ex, TODO_STEP);
}

/* ===== getting a connection ===== */

void attempt_linked(struct attempt *a, struct link *l)
{
    a->link = l;
    if (a->phase == ATTEMPT_IN_LINE || a->pool->proxied)
        attempt_started(a);
    attempt_move(a, ATTEMPT_ASKING);
    attempt_send(a);
}

/* A request that must not be sent twice needs a connection that is surely open:
 * the race with a server that closes it cannot be avoided, but made small. */
bool attempt_is_careful(const struct attempt *a)
{
    return !a->ex->op.idempotent && !a->ex->op.has_key;
}

static void get_link(struct attempt *a)
{
    switch (pool_take(a->pool, a, attempt_is_careful(a))) {
    case POOL_READY:
        count(&worker_of(a)->counters.reused);
        attempt_move(a, ATTEMPT_ASKING);
        attempt_send(a);
        break;
    case POOL_FAILED:
        attempt_fail(a, atomic_load(&a->pool->endpoint->moves)
                            ? BIDE_FAULT_LOCAL
                            : BIDE_FAULT_DNS);
        break;
    default:
        break;
    }
}

/* Neither the first attempt of a call nor a hedge. */
static bool is_retry(const struct attempt *a)
{
    return a->number > 1 && a->why != BIDE_BECAUSE_HEDGE;
}

void attempt_start(struct exchange *ex, const bide_decision *d)
{
    struct worker *w = ex->worker;
    struct attempt *a = attempt_new(ex);
    count(&w->counters.attempts);
    a->number = d->attempt;
    a->begin_ns = w->loop.now_ns;
    a->timeout_ns =
        ex->once ? once_timeout(ex, d->timeout_ns) : d->timeout_ns;
    event_attempt(a, d->reason);
    if (is_retry(a))
        count(&ex->route->counts->of[w->index].retries);
    a->nth = ++ex->tries;
    if (a == w->spare_attempt)
        attempt_fail(a, BIDE_FAULT_LOCAL);
    else if (!ex->route->can_fail || !fault_begin(a))
        attempt_go(a);
}

/* An ejected endpoint is not probed by a probe of the service itself, whose
 * failure would keep the others from being used; nor by a client that can delay
 * it. */
static bool must_be_sure(const struct exchange *ex)
{
    const struct service *v = ex->route->service;
    return v->upstream->n_endpoints > 1 &&
           (ex->upload != UPLOAD_NONE ||
            bide_dep_breaker(v->dep, ex->worker->loop.now_ns) !=
                BIDE_BREAKER_CLOSED);
}

/* Where an endpoint may speak either: gRPC needs HTTP/2, and a change of protocol
 * HTTP/1.1. */
static struct pool *pool_for(const struct exchange *ex, struct endpoint *e)
{
    unsigned w = ex->worker->index;
    bool other = e->others && (e->tls ? ex->upgrade : ex->grpc);
    return other ? &e->others[w] : &e->pools[w];
}

void attempt_go(struct attempt *a)
{
    struct exchange *ex = a->ex;
    struct worker *w = ex->worker;
    struct endpoint *e = endpoint_choose(
        ex->route->service->upstream, w->index, ex->tried, must_be_sure(ex),
        &w->random, w->loop.now_ns, &a->permit, &a->permit_held);
    a->pool = pool_for(ex, e);
    gauge_up(&a->pool->in_flight);
    count(&e->counts->of[w->index].requests);
    if (is_retry(a))
        count(&e->counts->of[w->index].retries);
    ex->tried |= UINT64_C(1) << e->index;
    ex->endpoint = e;
    a->elsewhere = ex->route->primary != NULL;
    attempt_until(a, net_after(a->begin_ns, a->timeout_ns));
    get_link(a);
}

void attempt_ready(struct attempt *a)
{
    struct exchange *ex = a->ex;
    if (!a->link)
        return;
    if (ex->phase == EXCHANGE_TUNNEL) {
        tunnel_pump(ex);
        return;
    }
    if (a->sending < SENT_ALL && a->link->conn.writable) {
        /* It may fail, and be freed. */
        struct link *l = a->link;
        attempt_send(a);
        if (l->attempt != a)
            return;
    }
    if (a->phase == ATTEMPT_PASSED_ON)
        answer_pump(ex);
    else if (net_can_read(&a->link->conn))
        attempt_read(a);
}
