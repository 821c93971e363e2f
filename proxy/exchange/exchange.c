/* One request and its answer: the driver's side of a call. */
#include "proxy/exchange/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "bide/run.h"
#include "net/buf.h"
#include "proxy/back/service.h"
#include "proxy/exchange/answer.h"
#include "proxy/exchange/answer_body.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/fallback.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/queue.h"
#include "proxy/exchange/request.h"
#include "proxy/exchange/route.h"
#include "proxy/exchange/stale.h"
#include "proxy/exchange/tunnel.h"
#include "proxy/exchange/upload.h"
#include "proxy/exchange/upload_keep.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/grpc/grpc_answer.h"
#include "proxy/once/once.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

enum { FREE_EXCHANGES = NET_SPARES(256) };

static int64_t now_of(const struct exchange *ex)
{
    return ex->worker->loop.now_ns;
}

static bide_dep *dep_of(const struct exchange *ex)
{
    return ex->route->service->dep;
}

const char *exchange_bytes(const struct exchange *ex)
{
    return net_buf_at(ex->client->in);
}

const char *exchange_method(const struct exchange *ex, char text[METHOD_TEXT])
{
    const struct http1_head *req = &ex->req;
    if (req->method_len >= METHOD_TEXT)
        return NULL;
    memcpy(text, exchange_bytes(ex) + req->method, req->method_len);
    text[req->method_len] = '\0';
    return text;
}

/* ===== beginning and end ===== */

static void on_time(struct net_timer *t)
{
    struct exchange *ex = bide__container_of(t, struct exchange, timer);
    if (!queue_yields(ex))
        exchange_step(ex);
}

/* One thing at a time: each may end the exchange, and the rest is queued before
 * that, so that the end finds it. */
static void on_task(struct net_task *t)
{
    struct exchange *ex = bide__container_of(t, struct exchange, task);
    unsigned todo = ex->todo, now = todo & (~todo + 1);
    ex->todo = (uint8_t)(todo & ~now);
    if (ex->todo)
        net_task_later(&ex->worker->loop, t);
    if (now == TODO_PUMP && ex->phase == EXCHANGE_TUNNEL)
        tunnel_pump(ex);
    else if (now == TODO_PUMP)
        answer_pump(ex);
    else if (now == TODO_UPLOAD)
        upload_read(ex);
    else if (now == TODO_STEP)
        exchange_step(ex);
}

void exchange_later(struct exchange *ex, enum todo what)
{
    if (what == TODO_STEP && ex->phase == EXCHANGE_STEP)
        return; /* it will ask again anyway */
    ex->todo |= (uint8_t)what;
    net_task_later(&ex->worker->loop, &ex->task);
}

struct exchange *exchange_new(struct client *c)
{
    struct worker *w = c->worker;
    struct exchange *ex = w->free_exchanges;
    if (ex) {
        w->free_exchanges = ex->next;
        w->n_free_exchanges--;
    } else if (!(ex = malloc(sizeof *ex))) {
        return NULL;
    }
    memset(ex, 0, offsetof(struct exchange, call));
    ex->client = c;
    ex->worker = w;
    ex->timer.fire = on_time;
    ex->task.run = on_task;
    ex->begin_ns = w->loop.now_ns;
    w->n_exchanges++;
    atomic_store_explicit(&w->now_exchanges, (unsigned)w->n_exchanges,
                          memory_order_relaxed);
    return ex;
}

static void end_call(struct exchange *ex)
{
    if (!exchange_is_called(ex))
        return;
    exchange_move(ex, EXCHANGE_SETTLED);
    net_timer_cancel(&ex->worker->loop, &ex->timer);
    queue_leave(ex);
    bide_call_end(&ex->call, now_of(ex));
    if (ex->worker->n_queued != 0)
        queue_offer(ex->worker, dep_of(ex));
}

static void end_attempts(struct exchange *ex, struct attempt *but)
{
    struct attempt *a, *next;
    for (a = ex->running; a; a = next) {
        next = a->next;
        if (a != but)
            attempt_end(a);
    }
}

void exchange_stop(struct exchange *ex, struct attempt *but)
{
    end_attempts(ex, but);
    if (ex->saved)
        attempt_end(ex->saved);
    end_call(ex);
}

/* Time counts from the beginning of the request, also where a key had to be
 * claimed first. */
void exchange_call(struct exchange *ex)
{
    bide_call_begin(&ex->call, dep_of(ex), &ex->op, ex->begin_ns);
    exchange_move(ex, EXCHANGE_CALL);
    if (ex->once)
        once_called(ex);
    exchange_step(ex);
}

void exchange_restart(struct exchange *ex, const struct route *route)
{
    end_attempts(ex, NULL);
    end_call(ex);
    ex->route = route;
    ex->tried = 0;
    exchange_make_key(ex);
    bide_call_begin(&ex->call, dep_of(ex), &ex->op, now_of(ex));
    exchange_move(ex, EXCHANGE_CALL);
    exchange_later(ex, TODO_STEP);
}

void exchange_free(struct exchange *ex)
{
    struct worker *w = ex->worker;
    exchange_stop(ex, NULL);
    net_task_cancel(&ex->task);
    upload_free(ex);
    answer_drop(ex);
    net_buf_give(&w->bufs, ex->out);
    net_buf_give(&w->bufs, ex->interim);
    stale_unref(ex->copy);
    if (ex->once)
        once_free(ex->once);
    if (ex->use)
        generation_leave(w, ex->use);
    w->n_exchanges--;
    atomic_store_explicit(&w->now_exchanges, (unsigned)w->n_exchanges,
                          memory_order_relaxed);
    if (w->n_free_exchanges == FREE_EXCHANGES) {
        free(ex);
        return;
    }
    w->n_free_exchanges++;
    ex->next = w->free_exchanges;
    w->free_exchanges = ex;
}

/* ===== decisions ===== */

bide_outcome exchange_blame(const struct exchange *ex, const struct attempt *a,
                            const bide_outcome *out)
{
    if (out->cls == BIDE_SUCCESS)
        return *out;
    return bide_call_blame(&ex->call, a->number, out, now_of(ex));
}

void exchange_report(struct exchange *ex, const struct attempt *a,
                     const bide_outcome *out)
{
    ex->last = exchange_blame(ex, a, out);
    ex->reported = true;
    event_report(ex, a, out);
    bide_call_report(&ex->call, a->number, out, now_of(ex));
    if (ex->worker->n_queued != 0)
        queue_offer(ex->worker, dep_of(ex));
}

bide_decision exchange_next(struct exchange *ex)
{
    bide_decision d = bide_call_next(&ex->call, now_of(ex));
    event_decision(ex, &d);
    return d;
}

static void wait(struct exchange *ex, const bide_decision *d)
{
    int64_t at = d->at_ns;
    if (d->reason == BIDE_BECAUSE_QUEUED)
        at = queue_enter(ex, at);
    else
        queue_leave(ex);
    if (!ex->running && ex->wait_from_ns == 0)
        ex->wait_from_ns = now_of(ex);
    net_timer_set(&ex->worker->loop, &ex->timer, at);
}

static void waited(struct exchange *ex)
{
    ex->wait.slept_ns = ex->wait_from_ns ? now_of(ex) - ex->wait_from_ns : 0;
    ex->waited_ns += ex->wait.slept_ns;
    ex->wait_from_ns = 0;
}

/* Does what was decided. An attempt that fails at once has been reported when
 * attempt_start() returns, and the next decision follows from that. */
void exchange_act(struct exchange *ex, bide_decision d)
{
    bool hedges = bide_dep_policy(dep_of(ex))->hedge.max != 0;
    exchange_move(ex, EXCHANGE_STEP);
    while (d.action == BIDE_TRY) {
        waited(ex);
        queue_leave(ex);
        attempt_start(ex, &d);
        if (ex->running && !hedges) {
            exchange_move(ex, EXCHANGE_CALL);
            return;
        }
        d = exchange_next(ex);
    }
    exchange_move(ex, EXCHANGE_CALL);
    if (d.action == BIDE_WAIT)
        wait(ex, &d);
    else
        exchange_settle(ex, &d, NULL);
}

void exchange_settle(struct exchange *ex, const bide_decision *d,
                     struct attempt *winner)
{
    waited(ex);
    if (!ex->route->primary) /* else it is known why that one gave up */
        ex->reason = (uint8_t)d->reason;
    if (!winner && ex->saved && !(ex->once && once_outlived(ex, ex->saved))) {
        winner = ex->saved;
        winner->next = ex->running;
        ex->running = winner;
        ex->saved = NULL;
    }
    if (ex->route->has_fallback && fallback_take(ex, d, winner))
        return;
    exchange_stop(ex, winner);
    if (ex->once && winner)
        once_settled(ex, winner);
    if (!winner) {
        own_answer_for(ex, ex->route->primary ? &ex->gave_up : d);
        return;
    }
    if (ex->grpc && d->reason == BIDE_BECAUSE_NOT_IDEMPOTENT)
        grpc_advise(ex);
    if (ex->grpc && !grpc_fits(winner)) {
        grpc_answer_instead(ex, winner);
        return;
    }
    if (ex->eager)
        upload_pass_on(ex);
    ex->winner = winner;
    attempt_move(winner, ATTEMPT_PASSED_ON);
    answer_begin(ex);
}
