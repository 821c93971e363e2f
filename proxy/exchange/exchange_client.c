/* An exchange and its client: what is done when it sends no more or leaves, and
 * how long it may take to send its body, to read its response, and in total.
 *
 * Time runs only while we wait for the client. Each direction has its own pace
 * (pace.h); the client's one timer is set to what is due first. */
#include "config/proxy/conf.h"
#include "net/conn.h"
#include "net/tls.h"
#include "proxy/access_log.h"
#include "proxy/back/service.h"
#include "proxy/exchange/answer.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/route.h"
#include "proxy/exchange/upload.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/grpc/grpc.h"
#include "proxy/once/apart.h"
#include "proxy/once/once.h"
#include "proxy/worker.h"

enum { LOOKS = 4 }; /* polls of a slow reader, in timeouts.write */

static int64_t now_of(const struct exchange *ex)
{
    return ex->worker->loop.now_ns;
}

const char *exchange_certificate(const struct exchange *ex)
{
    return ex->generation->conf->tls.forward_client
               ? net_tls_client_certificate(client_socket(ex->client))
               : NULL;
}

/* ===== the end ===== */

void exchange_note_cut(struct exchange *ex)
{
    count(&ex->worker->counters.cut_short);
    if (ex->route)
        bide_dep_cut_short(ex->route->service->dep);
    ex->reason = BIDE_BECAUSE_CUT_SHORT;
}

void exchange_cut(struct exchange *ex)
{
    struct client *c = ex->client;
    if (ex->once && once_holds(ex)) { /* nothing has been sent yet */
        exchange_cancel(ex);
        return;
    }
    exchange_note_cut(ex);
    exchange_over(ex);
    client_abort(c);
}

void exchange_gone(struct exchange *ex)
{
    count(&ex->worker->counters.cancelled);
    if (ex->once && once_goes_on(ex))
        return;
    if (exchange_is_called(ex))
        bide_call_cancel(&ex->call);
    exchange_stop(ex, ex->winner);
    ex->reason = BIDE_BECAUSE_CANCELLED;
    if (ex->status == 0)
        ex->status = 499; /* as in nginx: the client went away */
    exchange_over(ex);
}

void exchange_cancel(struct exchange *ex)
{
    struct client *c = ex->client;
    exchange_gone(ex);
    client_abort(c);
}

/* Reported once, whatever the outcome. */
void exchange_over(struct exchange *ex)
{
    if (ex->phase == EXCHANGE_OVER)
        return;
    exchange_move(ex, EXCHANGE_OVER);
    if (ex->once && ex->once->told) /* another exchange has been logged */
        return;
    if (ex->grpc)
        grpc_count(ex);
    if (ex->worker->log)
        access_log_write(ex->worker->log, ex);
    event_over(ex);
}

/* ===== a client that sends no more ===== */

/* The client has shut down its sending side after a complete request. The
 * kernel reports that once, maybe together with the last data, so it is checked
 * again whenever there is something to decide. It may have closed entirely: TLS
 * says so, and so does the kernel after a failed write. Otherwise it may still
 * want its response (`nc -N`, some old clients). */
static bool has_closed(const struct exchange *ex)
{
    return ex->client->conn.hup && ex->upload == UPLOAD_NONE;
}

static bool has_left(const struct exchange *ex)
{
    const struct net_conn *conn = &ex->client->conn;
    return has_closed(ex) && (conn->broken || conn->session);
}

/* Whether an attempt is in progress; one that waits in our own line is not. A key
 * is claimed for one. */
static bool is_under_way(const struct exchange *ex)
{
    const struct attempt *a = ex->running;
    if (ex->once && once_is_pending(ex))
        return true;
    while (a && a->phase == ATTEMPT_IN_LINE)
        a = a->next;
    return a != NULL;
}

/* For a client that sends no more, one attempt is made, or continues, and its
 * outcome is the response: it does not wait for another. */
static void step_once(struct exchange *ex)
{
    bide_call_no_more(&ex->call);
    bide_decision d = exchange_next(ex);
    if (d.action == BIDE_WAIT && !is_under_way(ex))
        exchange_cancel(ex);
    else
        exchange_act(ex, d);
}

void exchange_step(struct exchange *ex)
{
    bool pending = ex->once && once_is_pending(ex);
    if (ex->phase != EXCHANGE_CALL && !pending)
        return;
    if (has_left(ex))
        exchange_cancel(ex);
    else if (pending)
        once_claim(ex);
    else if (has_closed(ex))
        step_once(ex);
    else
        exchange_act(ex, exchange_next(ex));
}

void exchange_client_ready(struct exchange *ex)
{
    struct client *c = ex->client;
    const struct net_conn *conn = &c->conn;
    bool owed = ex->winner && !attempt_is_complete(ex->winner);
    if (has_left(ex) && owed) {
        exchange_cancel(ex);
        return;
    }
    if (ex->phase != EXCHANGE_ANSWER && conn->writable)
        interim_flush(ex);
    if (ex->phase == EXCHANGE_ANSWER) {
        if (ex->upload == UPLOAD_STREAMING && ex->winner)
            upload_read(ex);
        if (c->ex == ex && c->phase == CLIENT_BUSY)
            answer_pump(ex);
        return;
    }
    if (conn->broken || has_left(ex) || (has_closed(ex) && !is_under_way(ex)))
        exchange_cancel(ex);
    else if (has_closed(ex) && exchange_is_called(ex))
        bide_call_no_more(&ex->call);
    else if (ex->upload != UPLOAD_NONE)
        upload_read(ex);
}

/* ===== time ===== */

/* A request in progress keeps the configuration that it began with. */
const struct bide__proxy_conf *exchange_conf(const struct exchange *ex)
{
    return ex->generation ? ex->generation->conf : ex->worker->conf;
}

/* When it must be over. Our own response about that may still be read. */
static int64_t request_end(const struct exchange *ex)
{
    bool own = (ex->phase == EXCHANGE_ANSWER && !ex->winner) ||
               ex->client->nobody;
    return own ? BIDE_FOREVER
               : net_after(ex->begin_ns,
                           exchange_conf(ex)->timeouts.request_ns);
}

/* A body that takes longer than the call may is too slow, too. */
static int64_t upload_end(const struct exchange *ex)
{
    int64_t deadline =
        exchange_is_called(ex) ? bide_call_deadline(&ex->call) : BIDE_FOREVER;
    int64_t due = pace_due(&ex->up);
    return due < deadline ? due : deadline;
}

/* Only the kernel sees a client read, so it is polled. */
static int64_t next_look(const struct exchange *ex)
{
    int64_t due = pace_due(&ex->down);
    int64_t look = net_after(ex->down.from_ns,
                             exchange_conf(ex)->timeouts.write_ns / LOOKS);
    return look < due ? look : due;
}

void exchange_await(struct exchange *ex)
{
    int64_t at = request_end(ex);
    if (ex->once && ex->once->deadline_ns < at)
        at = ex->once->deadline_ns;
    if (pace_runs(&ex->up) && upload_end(ex) < at)
        at = upload_end(ex);
    if (pace_runs(&ex->down) && next_look(ex) < at)
        at = next_look(ex);
    client_until(ex->client, at);
}

/* An attempt that has begun is judged by the engine. */
void exchange_too_slow(struct exchange *ex)
{
    count(&ex->worker->counters.timed_out);
    if (exchange_is_called(ex) && ex->running) {
        attempt_fail(ex->running, BIDE_FAULT_UPLOAD);
        return;
    }
    ex->reason = BIDE_BECAUSE_UPLOAD;
    own_answer_with(ex, 408, "upload", "Request Timeout",
                    "the request came too slowly");
}

static void request_over(struct exchange *ex)
{
    ex->reason = BIDE_BECAUSE_DEADLINE;
    own_answer_with(ex, 504, "request_timeout", "Gateway Timeout",
                    "the request took longer than timeouts.request");
}

void exchange_late(struct exchange *ex)
{
    int64_t now = now_of(ex);
    bool over = request_end(ex) <= now;
    if (ex->once && once_late(ex))
        return;
    if (ex->phase == EXCHANGE_ANSWER && over)
        exchange_cut(ex);
    else if (over && ex->upload == UPLOAD_NONE)
        request_over(ex);
    else if (over || (pace_runs(&ex->up) && upload_end(ex) <= now))
        exchange_too_slow(ex);
    else
        answer_slow(ex);
}
