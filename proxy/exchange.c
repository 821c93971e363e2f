/* One request and its answer: the driver's side of a call. */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "access_log.h"
#include "bide/run.h"
#include "client.h"
#include "proxy.h"
#include "worker.h"

enum { FREE_EXCHANGES = 128 };

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

/* ===== beginning and end ===== */

static void on_time(struct net_timer *t)
{
    exchange_step(
        (struct exchange *)((char *)t - offsetof(struct exchange, timer)));
}

/* One thing at a time: each may end the exchange, and what is left is queued before
 * that, so that the end finds it. */
static void on_task(struct net_task *t)
{
    struct exchange *ex =
        (struct exchange *)((char *)t - offsetof(struct exchange, task));
    unsigned todo = ex->todo, now = todo & (~todo + 1);
    ex->todo = (uint8_t)(todo & ~now);
    if (ex->todo)
        net_task_later(&ex->worker->loop, t);
    if (now == TODO_PUMP && ex->tunnel)
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
    if (what == TODO_STEP && ex->stepping)
        return; /* it asks again anyway */
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
    if (!ex->called)
        return;
    ex->called = false;
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
        if (a != but) {
            tell_lost(a);
            attempt_end(a, false);
        }
    }
}

void exchange_stop(struct exchange *ex, struct attempt *but)
{
    end_attempts(ex, but);
    if (ex->saved)
        attempt_end(ex->saved, false);
    ex->saved = NULL;
    end_call(ex);
}

void exchange_free(struct exchange *ex)
{
    struct worker *w = ex->worker;
    exchange_stop(ex, NULL);
    net_task_cancel(&ex->task);
    upload_free(ex);
    net_buf_give(&w->bufs, ex->out);
    if (ex->era)
        era_leave(w, ex->era);
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

/* ===== what the request says ===== */

static bool field_is(const struct exchange *ex, const struct http1_field *f,
                     const char *text)
{
    return f->value_len == strlen(text) &&
           memcmp(exchange_bytes(ex) + f->value, text, f->value_len) == 0;
}

/* A whole number; -1 if it is none. */
static int64_t field_number(const struct exchange *ex, enum http1_id id)
{
    const struct http1_field *f = http1_find(&ex->req, id);
    const char *text = exchange_bytes(ex);
    int64_t n = 0;
    if (!f || f->value_len == 0 || f->value_len > 15)
        return -1;
    for (unsigned i = 0; i < f->value_len; i++) {
        char c = text[f->value + i];
        if (c < '0' || c > '9')
            return -1;
        n = n * 10 + (c - '0');
    }
    return n;
}

static bool is_idempotent(const struct http1_head *req)
{
    switch (req->method_id) {
    case HTTP1_GET:
    case HTTP1_HEAD:
    case HTTP1_PUT:
    case HTTP1_DELETE:
    case HTTP1_OPTIONS:
    case HTTP1_TRACE: return true;
    default: return false;
    }
}

/* An empty key is none, and one that Connection names stays here. */
static bool key_travels(const struct http1_head *req)
{
    const struct http1_field *f = http1_find(req, HTTP1_ID_IDEMPOTENCY_KEY);
    return f && !f->hop && f->value_len > 0;
}

/* What only clients that are trusted may say. */
static void heed_overrides(struct exchange *ex, bide_op *op)
{
    const struct http1_field *f = http1_find(&ex->req, HTTP1_ID_X_BIDE_IDEMPOTENT);
    uint32_t attempts = bide_dep_policy(dep_of(ex))->attempts;
    int64_t most = field_number(ex, HTTP1_ID_X_BIDE_ATTEMPTS_MAX);
    if (f && field_is(ex, f, "true"))
        op->idempotent = true;
    if (f && field_is(ex, f, "false"))
        op->idempotent = false;
    if (most >= 1 && most < attempts)
        op->attempts_made = attempts - (uint32_t)most;
}

#define BIT(id) (UINT64_C(1) << HTTP1_ID_##id)

static void read_op(struct exchange *ex)
{
    bide_op *op = &ex->op;
    const uint64_t seen = ex->req.seen;
    const bide_policy_conf *policy = bide_dep_policy(dep_of(ex));
    const uint64_t special = BIT(X_BIDE_ATTEMPT) | BIT(X_BIDE_TIMEOUT_MS) |
                             BIT(X_BIDE_IDEMPOTENT) | BIT(X_BIDE_ATTEMPTS_MAX);

    op->idempotent = is_idempotent(&ex->req);
    op->has_key = seen & BIT(IDEMPOTENCY_KEY) && key_travels(&ex->req);
    op->one_shot_body = ex->upgrade;
    if (!op->idempotent && !op->has_key &&
        policy->idempotency_key == BIDE_KEY_GENERATE)
        op->has_key = bide_key_new(ex->key) == 0;
    if (!(seen & special))
        return;
    int64_t attempt = field_number(ex, HTTP1_ID_X_BIDE_ATTEMPT);
    int64_t ms = field_number(ex, HTTP1_ID_X_BIDE_TIMEOUT_MS);
    if (attempt > 0)
        op->upstream_attempt =
            attempt > UINT32_MAX ? UINT32_MAX : (uint32_t)attempt;
    if (ms >= 0)
        op->deadline_ns = ms > INT64_MAX / BIDE_MILLISECOND
                              ? BIDE_FOREVER
                              : net_after(now_of(ex), ms * BIDE_MILLISECOND);
    if (ex->client->trusted)
        heed_overrides(ex, op);
}

/* ===== beginning ===== */

static void refuse(struct exchange *ex, int status, const char *problem,
                   const char *title, const char *detail)
{
    own_answer(ex, &(struct own_answer){ .status = status,
                                         .problem = problem,
                                         .title = title,
                                         .detail = detail,
                                         .retry_ns = BIDE_FOREVER });
}

static bool route(struct exchange *ex)
{
    if (ex->req.method_id == HTTP1_CONNECT) {
        ex->close_after = true; /* what follows would not be HTTP */
        refuse(ex, 405, "connect", "Method Not Allowed",
               "this is a reverse proxy: it makes no tunnels");
        return false;
    }
    ex->era = ex->worker->era;
    ex->era->n_exchanges++;
    ex->state = ex->era->state;
    ex->route = route_find(ex->state, &ex->req, exchange_bytes(ex));
    if (ex->route)
        return true;
    refuse(ex, 404, "no_route", "Not Found", "no route takes this request");
    return false;
}

/* What is added on the way is little, but for what repeats the name of the host. */
static bool fits(struct exchange *ex)
{
    enum { ADDED = 1024 };
    if (ex->req.head_len + 2u * ex->req.host_len + ADDED <=
        ex->worker->bufs.size)
        return true;
    refuse(ex, 431, "head_grows", "Request Header Fields Too Large",
           "with what is added on the way the head is too long");
    return false;
}

void exchange_begin(struct exchange *ex)
{
    struct client *c = ex->client;
    count(&ex->worker->counters.requests);
    ex->in_end = c->in->begin + ex->req.head_len;
    ex->close_after = !ex->req.keep_alive;
    /* Until the body has been read, what follows the head is not a request. */
    if (ex->req.framing != HTTP1_NO_BODY)
        ex->upload = UPLOAD_KEEPING;
    ex->upgrade = ex->req.upgrade && ex->upload == UPLOAD_NONE;
    if (!route(ex) || !fits(ex))
        return;
    read_op(ex);
    tell_begin(ex);
    bide_call_begin(&ex->call, dep_of(ex), &ex->op, now_of(ex));
    ex->called = true;
    if (ex->req.framing == HTTP1_NO_BODY || upload_begin(ex))
        exchange_step(ex);
}

/* ===== decisions ===== */

void exchange_report(struct exchange *ex, const struct attempt *a,
                     const bide_outcome *out)
{
    const struct proxy_hooks *hooks = &ex->worker->proxy->hooks;
    ex->last = *out;
    ex->reported = true;
    tell_report(ex, a, out);
    bide_call_report(&ex->call, a->number, out, now_of(ex));
    if (hooks->on_attempt)
        hooks->on_attempt(hooks->ctx, ex, a, out, now_of(ex));
    if (ex->worker->n_queued != 0)
        queue_offer(ex->worker, dep_of(ex));
}

bide_decision exchange_next(struct exchange *ex)
{
    const struct proxy_hooks *hooks = &ex->worker->proxy->hooks;
    bide_decision d = bide_call_next(&ex->call, now_of(ex));
    if (hooks->on_decision)
        hooks->on_decision(hooks->ctx, ex, &d, ex->reported ? &ex->last : NULL,
                           now_of(ex));
    tell_decision(ex, &d);
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
    ex->slept_ns = ex->wait_from_ns ? now_of(ex) - ex->wait_from_ns : 0;
    ex->waited_ns += ex->slept_ns;
    ex->wait_from_ns = 0;
}

/* Does as decided. An attempt that fails at once has been reported when
 * attempt_start() returns, and the next decision follows from that. */
void exchange_act(struct exchange *ex, bide_decision d)
{
    bool hedges = bide_dep_policy(dep_of(ex))->hedge.max != 0;
    ex->stepping = true;
    while (d.action == BIDE_TRY) {
        waited(ex);
        queue_leave(ex);
        attempt_start(ex, &d);
        if (ex->running && !hedges) {
            ex->stepping = false;
            return;
        }
        d = exchange_next(ex);
    }
    ex->stepping = false;
    if (d.action == BIDE_WAIT)
        wait(ex, &d);
    else
        exchange_settle(ex, &d, NULL);
}

void exchange_step(struct exchange *ex)
{
    if (!ex->stepping && ex->called)
        exchange_act(ex, exchange_next(ex));
}

void exchange_settle(struct exchange *ex, const bide_decision *d,
                     struct attempt *winner)
{
    waited(ex);
    ex->reason = (uint8_t)d->reason;
    if (!winner && ex->saved) {
        winner = ex->saved;
        winner->next = ex->running;
        ex->running = winner;
        ex->saved = NULL;
    }
    exchange_stop(ex, winner);
    ex->winner = winner;
    if (winner)
        answer_begin(ex);
    else
        own_answer_for(ex, d);
}

/* ===== the client ===== */

void exchange_cut(struct exchange *ex)
{
    struct client *c = ex->client;
    count(&ex->worker->counters.cut_short);
    ex->reason = BIDE_N_REASONS; /* "cut_short", in the log */
    exchange_over(ex);
    client_abort(c);
}

void exchange_cancel(struct exchange *ex)
{
    struct client *c = ex->client;
    count(&ex->worker->counters.cancelled);
    if (ex->called)
        bide_call_cancel(&ex->call);
    ex->reason = BIDE_BECAUSE_CANCELLED;
    if (ex->status == 0)
        ex->status = 499; /* as others log it: the client went away */
    exchange_over(ex);
    client_abort(c);
}

/* Whatever becomes of it, it is told once. */
void exchange_over(struct exchange *ex)
{
    const struct proxy_hooks *hooks = &ex->worker->proxy->hooks;
    if (ex->told)
        return;
    ex->told = true;
    if (ex->worker->log)
        access_log_write(ex->worker->log, ex);
    if (hooks->on_done)
        hooks->on_done(hooks->ctx, ex, now_of(ex));
    tell_over(ex);
}

void exchange_client_ready(struct exchange *ex)
{
    struct client *c = ex->client;
    const struct net_conn *conn = &c->conn;
    bool owed = ex->winner && !ex->winner->complete;
    if (conn->hup && owed && ex->upload == UPLOAD_NONE) {
        exchange_cancel(ex);
        return;
    }
    if (ex->status != 0) {
        if (ex->upload == UPLOAD_STREAMING && ex->winner)
            upload_read(ex);
        if (c->ex == ex && c->phase == CLIENT_BUSY)
            answer_pump(ex);
        return;
    }
    if (conn->broken || (conn->hup && ex->upload == UPLOAD_NONE))
        exchange_cancel(ex);
    else if (ex->upload != UPLOAD_NONE)
        upload_read(ex);
}
