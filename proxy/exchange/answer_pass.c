/* Streaming a response to its end. */
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/conn.h"
#include "proxy/exchange/answer.h"
#include "proxy/exchange/answer_body.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/tunnel.h"
#include "proxy/front/client.h"
#include "proxy/grpc/grpc_answer.h"
#include "proxy/once/once.h"
#include "proxy/worker.h"

static void finish(struct exchange *ex)
{
    struct attempt *a = ex->winner;
    struct client *c = ex->client;
    if (a && a->resp.framing == HTTP1_TUNNEL) {
        tunnel_begin(ex);
        return;
    }
    c->until_ns = BIDE_FOREVER;
    /* A client that has closed looks like one that has only shut down its
     * sending side, until something is sent to it. */
    bool gone = c->nobody || (c->conn.hup && net_conn_failed(&c->conn));
    if (gone) {
        ex->status = 499;
        exchange_gone(ex);
    } else {
        exchange_over(ex);
    }
    if (a)
        attempt_end(a);
    if (gone)
        client_abort(c);
    else
        client_done(c);
}

/* What a TLS session has accepted but not sent cannot be taken back either. */
static bool has_begun(const struct exchange *ex)
{
    const struct net_conn *conn = &ex->client->conn;
    if (ex->once && once_holds(ex))
        return false;
    return ex->out_bytes != 0 || (conn->session && !conn->writable);
}

/* All that arrived has been sent, and nothing follows. A client of gRPC is told so. */
static void cut_off(struct exchange *ex)
{
    ex->winner->end = END_LOST;
    attempt_unlink(ex->winner);
    if (!grpc_conclude(ex->winner)) {
        exchange_cut(ex);
        return;
    }
    exchange_note_cut(ex);
    answer_pump(ex);
}

/* What arrived before the end is still sent. */
void answer_broken(struct exchange *ex)
{
    struct iovec iov[ANSWER_PIECES];
    if (!has_begun(ex)) {
        exchange_move(ex, EXCHANGE_SETTLED);
        ex->status = 0;
        answer_drop(ex);
        net_buf_give(&ex->worker->bufs, ex->out);
        ex->out = NULL;
        attempt_end(ex->winner);
        own_answer(ex, &(struct own_answer){
                           .status = 502,
                           .problem = "answer_broke_off",
                           .title = "Bad Gateway",
                           .detail = "the endpoint's answer broke off",
                           .retry_ns = BIDE_FOREVER });
    } else if (answer_pieces(ex, iov) > 0) {
        ex->winner->end = END_LOST;
        attempt_unlink(ex->winner);
    } else {
        cut_off(ex);
    }
}

/* ===== slow clients ===== */

/* What the client has read, up to a constant: only its kernel knows. Ours says
 * that it can take more only when much of its buffer is free, which takes too
 * long with a slow client. */
static int64_t taken(const struct exchange *ex)
{
    return (int64_t)ex->out_bytes - (int64_t)net_conn_unsent(&ex->client->conn);
}

static void blocked(struct exchange *ex)
{
    if (pace_runs(&ex->down))
        return;
    ex->read = taken(ex);
    pace_begin(&ex->down, exchange_conf(ex)->timeouts.write_ns);
    pace_run(&ex->down, ex->worker->loop.now_ns);
    exchange_await(ex);
}

static void unblocked(struct exchange *ex)
{
    if (!pace_runs(&ex->down))
        return;
    pace_stop(&ex->down, ex->worker->loop.now_ns);
    exchange_await(ex);
}

/* A client that delays no one but itself may take its time, as long as it reads
 * anything. */
void answer_slow(struct exchange *ex)
{
    const struct bide__proxy_conf *conf = exchange_conf(ex);
    bool holds = ex->winner && ex->winner->link;
    int64_t now = ex->worker->loop.now_ns, all = taken(ex);
    pace_add(&ex->down, all > ex->read ? (uint64_t)(all - ex->read) : 0, now,
             holds ? conf->limits.answer_rate : 0, conf->timeouts.write_ns);
    ex->read = all;
    if (!pace_runs(&ex->down) || pace_due(&ex->down) > now) {
        exchange_await(ex);
        return;
    }
    count(&ex->worker->counters.timed_out);
    exchange_cut(ex);
}

/* ===== writing ===== */

/* Writes all there is: 1; 0: the client takes no more now; -1: it is gone. */
static int write_out(struct exchange *ex)
{
    struct iovec iov[ANSWER_PIECES];
    struct client *c = ex->client;
    int n_pieces;
    if (c->conn.broken) {
        exchange_cancel(ex);
        return -1;
    }
    if (pace_runs(&ex->down) && !c->conn.writable)
        return 0;
    while ((n_pieces = answer_pieces(ex, iov)) > 0) {
        ssize_t n = net_writev(&c->conn, iov, n_pieces);
        if (n == NET_AGAIN) {
            blocked(ex);
            return 0;
        }
        if (n < 0) {
            exchange_cancel(ex);
            return -1;
        }
        if (ex->first_byte_ns == 0)
            ex->first_byte_ns = ex->worker->loop.now_ns;
        answer_left(ex, (size_t)n);
    }
    unblocked(ex);
    return 1;
}

/* Bounded, since others wait for this thread, too. */
enum { ROUNDS = 16 };

void answer_pump(struct exchange *ex)
{
    if (ex->once && once_holds(ex)) {
        once_pump(ex);
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        int rc = write_out(ex);
        if (rc == 0)
            answer_read_ahead(ex);
        if (rc <= 0)
            return;
        struct attempt *a = ex->winner;
        if (a && a->end == END_LOST) {
            cut_off(ex);
            return;
        }
        if (a && grpc_lacks_status(a) && grpc_conclude(a))
            continue;
        if (!a || attempt_is_complete(a) || a->resp.framing == HTTP1_TUNNEL) {
            finish(ex);
            return;
        }
        if (!answer_read(ex))
            return;
    }
    exchange_later(ex, TODO_PUMP);
}
