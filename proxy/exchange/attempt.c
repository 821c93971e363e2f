/* An attempt's life, but for what it sends and reads. */
#include "proxy/exchange/attempt.h"

#include <stdlib.h>
#include <string.h>

#include "net/buf.h"
#include "net/conn.h"
#include "proxy/back/balance.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/endpoint_counts.h"
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
#include "proxy/proxy.h"
#include "proxy/worker.h"

enum { FREE_ATTEMPTS = NET_SPARES(128) };

static struct worker *worker_of(const struct attempt *a)
{
    return a->ex->worker;
}

/* ===== time ===== */

/* Its time was spent waiting for a connection. Without a descriptor there is
 * nothing to be had from another attempt either. */
static void late_in_line(struct attempt *a)
{
    bool starved = pool_starved(a->pool, a->begin_ns);
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
        attempt_fail(a, starved ? BIDE_FAULT_LOCAL
                        : endpoint_is_pending(a->pool->endpoint)
                            ? BIDE_FAULT_DNS
                        : a->awaited ? BIDE_FAULT_TIMEOUT
                                     : BIDE_FAULT_CONNECTION_WAIT);
}

/* Before the answer: how long the engine lets it take. After: how long the
 * endpoint may be silent in the middle of it. */
static void on_time(struct net_timer *t)
{
    struct attempt *a =
        (struct attempt *)((char *)t - offsetof(struct attempt, timer));
    struct net_loop *loop = &worker_of(a)->loop;
    if (a->until_ns == BIDE_FOREVER)
        return;
    if (loop->now_ns < a->until_ns)
        net_timer_set(loop, t, a->until_ns);
    else if (a->held_up)
        fault_over(a);
    else if (a->ex->winner == a)
        answer_broken(a->ex);
    else if (a->answered)
        attempt_judge(a);
    else if (a->in_line)
        late_in_line(a);
    else
        attempt_fail(a, a->waits_for_client ? BIDE_FAULT_UPLOAD
                                            : BIDE_FAULT_TIMEOUT);
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
    }
    attempt_until(a, net_after(now, a->timeout_ns));
}

/* ===== beginning and end ===== */

static void on_task(struct net_task *t)
{
    attempt_ready(
        (struct attempt *)((char *)t - offsetof(struct attempt, task)));
}

void attempt_later(struct attempt *a)
{
    net_task_later(&worker_of(a)->loop, &a->task);
}

static struct attempt *attempt_new(struct exchange *ex)
{
    struct worker *w = ex->worker;
    struct attempt *a = w->free_attempts;
    if (a) {
        w->free_attempts = a->next;
        w->n_free_attempts--;
    } else if (!(a = malloc(sizeof *a))) {
        return NULL;
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
    if (w->n_free_attempts == FREE_ATTEMPTS) {
        free(a);
        return;
    }
    w->n_free_attempts++;
    a->next = w->free_attempts;
    w->free_attempts = a;
}

void attempt_unlink(struct attempt *a, bool reuse)
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
    if (l && reuse)
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

void attempt_end(struct attempt *a, bool reuse)
{
    list_remove(a);
    if (a->copy)
        copy_end(a);
    attempt_judge_endpoint(a, NULL);
    attempt_unlink(a, reuse);
    attempt_free(a);
}

void attempt_save(struct attempt *a, bool reuse)
{
    struct exchange *ex = a->ex;
    list_remove(a);
    if (ex->saved)
        attempt_end(ex->saved, false);
    ex->saved = a;
    attempt_unlink(a, reuse);
}

void attempt_judge_endpoint(struct attempt *a, const bide_outcome *out)
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

/* ===== failing ===== */

static bide_outcome outcome_of(const struct attempt *a, bide_fault fault)
{
    bide_response r = { .fault = fault,
                        .not_sent = !a->sent_any && !a->injected };
    char method[32] = "";
    const struct http1_head *req = &a->ex->req;
    if (req->method_len < sizeof method) {
        memcpy(method, exchange_bytes(a->ex) + req->method, req->method_len);
        r.method = method;
    }
    return bide_classify(a->ex->route->service->dep, &r);
}

void attempt_fail(struct attempt *a, bide_fault fault)
{
    struct exchange *ex = a->ex;
    bide_outcome out = outcome_of(a, fault);
    bide_outcome seen = exchange_blame(ex, a, &out);
    ex->fault = (uint8_t)fault;
    attempt_judge_endpoint(a, &seen);
    exchange_report(ex, a, &out);
    attempt_end(a, false);
    exchange_later(ex, TODO_STEP);
}

/* ===== getting a connection ===== */

void attempt_linked(struct attempt *a, struct link *l)
{
    a->link = l;
    a->reused = l->reused;
    if (!a->awaited)
        attempt_started(a);
    attempt_send(a);
}

void attempt_unlinked(struct attempt *a, bide_fault fault)
{
    attempt_fail(a, fault);
}

/* A request that must not be sent twice wants a connection that is surely open:
 * the race with a server that closes it cannot be won, but made small. */
bool attempt_is_careful(const struct attempt *a)
{
    return !a->ex->op.idempotent && !a->ex->op.has_key;
}

static void get_link(struct attempt *a)
{
    switch (pool_take(a->pool, a, attempt_is_careful(a))) {
    case POOL_READY:
        count(&worker_of(a)->counters.reused);
        a->reused = true;
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

static void no_memory(struct exchange *ex, uint32_t number)
{
    bide_outcome out = { .cls = BIDE_TRANSIENT,
                         .fault = BIDE_FAULT_LOCAL,
                         .not_processed = true };
    ex->fault = BIDE_FAULT_LOCAL;
    bide_call_report(&ex->call, number, &out, ex->worker->loop.now_ns);
}

void attempt_start(struct exchange *ex, const bide_decision *d)
{
    struct worker *w = ex->worker;
    struct attempt *a = attempt_new(ex);
    if (!a) {
        no_memory(ex, d->attempt);
        return;
    }
    count(&w->counters.attempts);
    a->number = d->attempt;
    a->begin_ns = w->loop.now_ns;
    a->timeout_ns = d->timeout_ns;
    event_attempt(a, d->reason);
    a->nth = ++ex->tries;
    if (!ex->route->can_fail || !fault_begin(a))
        attempt_go(a);
}

/* An endpoint that is out is not tried out by a probe of the service itself, whose
 * failure would keep the others shut; nor by a client that can hold it up. */
static bool must_be_sure(const struct exchange *ex)
{
    const struct service *v = ex->route->service;
    return v->upstream->n_endpoints > 1 &&
           (ex->upload != UPLOAD_NONE ||
            bide_dep_breaker(v->dep, ex->worker->loop.now_ns) !=
                BIDE_BREAKER_CLOSED);
}

void attempt_go(struct attempt *a)
{
    struct exchange *ex = a->ex;
    struct worker *w = ex->worker;
    struct endpoint *e = endpoint_choose(
        ex->route->service->upstream, w->index, ex->tried, must_be_sure(ex),
        &w->random, w->loop.now_ns, &a->permit, &a->permit_held);
    a->pool = &e->pools[w->index];
    gauge_up(&a->pool->in_flight);
    count(&e->counts->of[w->index].requests);
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
    if (ex->tunnel) {
        tunnel_pump(ex);
        return;
    }
    if (!a->sent_all && a->link->conn.writable && !a->send_failed) {
        /* It may fail, and be gone. */
        struct link *l = a->link;
        attempt_send(a);
        if (l->attempt != a)
            return;
    }
    if (ex->winner == a)
        answer_pump(ex);
    else if (net_can_read(&a->link->conn))
        attempt_read(a);
}
