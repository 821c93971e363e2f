/* A client's connection: one request after the other. */
#include "proxy/front/client.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "bide/backoff.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/conn.h"
#include "net/stream/mux.h"
#include "net/tls.h"
#include "proxy/exchange/answer.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/tunnel.h"
#include "proxy/exchange/upload.h"
#include "proxy/front/client_address.h"
#include "proxy/front/client_http2.h"
#include "proxy/front/client_limits.h"
#include "proxy/front/client_linger.h"
#include "proxy/front/turn_away.h"
#include "proxy/generation.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

enum {
    FREE_CLIENTS = NET_SPARES(256),
    STEPS = 64, /* in one go: others wait for this thread, too */
};

/* ===== beginning and end ===== */

static void client_free(void *user, struct net_grave *grave)
{
    struct worker *w = user;
    struct client *c = bide__container_of(grave, struct client, grave);
    if (w->n_free_clients == FREE_CLIENTS) {
        free(c);
        return;
    }
    w->n_free_clients++;
    c->next = w->free_clients;
    w->free_clients = c;
}

struct client *client_alloc(struct worker *w)
{
    struct client *c = w->free_clients;
    if (!c)
        return calloc(1, sizeof *c);
    w->free_clients = c->next;
    w->n_free_clients--;
    memset(c, 0, sizeof *c);
    return c;
}

/* A client that got part of a response must not take it for all of it. If a
 * length or chunks announce more, closing shows that it is missing, and the
 * client still gets what is on its way; a client that reads nothing will
 * not. */
static void hang_up(struct client *c)
{
    const struct exchange *ex = c->ex;
    if (ex && ex->status != 0 && c->phase != CLIENT_TUNNEL)
        net_conn_break(&c->conn,
                       pace_runs(&ex->down) ||
                           (ex->winner && answer_ends_by_closing(ex->winner)));
    else
        net_conn_close(&c->conn);
}

/* A stream counts as nobody's connection. */
static void leave_worker(struct client *c)
{
    struct worker *w = c->worker;
    if (c->is_stream)
        return;
    client_leave(c);
    bide__list_remove(&c->all);
    w->n_clients--;
    atomic_store_explicit(&w->now_clients, (unsigned)w->n_clients,
                          memory_order_relaxed);
    count(&w->counters.closed);
    worker_eased(w);
}

static void client_close(struct client *c)
{
    struct worker *w = c->worker;
    bool muxes = c->phase == CLIENT_MUX;
    if (c->phase == CLIENT_CLOSED)
        return;
    c->phase = muxes ? CLIENT_CLOSED : c->phase;
    if (muxes)
        mux_close(c->mux);
    hang_up(c);
    c->phase = CLIENT_CLOSED;
    if (c->ex) {
        struct exchange *ex = c->ex;
        if (ex->req.head_len != 0 && ex->phase != EXCHANGE_OVER)
            exchange_gone(ex);
        if (c->ex) /* it does not go on without this client */
            exchange_free(ex);
        c->ex = NULL;
    }
    net_buf_give(&w->bufs, c->in);
    c->in = NULL;
    net_timer_cancel(&w->loop, &c->timer);
    net_task_cancel(&c->task);
    net_loop_bury(&w->loop, &c->grave, client_free);
    leave_worker(c);
}

void client_abort(struct client *c)
{
    client_close(c);
}

/* ===== time ===== */

/* The timer is left alone if it would fire early enough: it is then set again.
 * So a connection in use costs the wheel nothing. */
void client_until(struct client *c, int64_t at_ns)
{
    c->until_ns = at_ns;
    if (at_ns != BIDE_FOREVER &&
        (!bide__timer_is_set(&c->timer.timer) || c->timer.timer.at_ns > at_ns))
        net_timer_set(&c->worker->loop, &c->timer, at_ns);
}

/* Some clients end a body with an extra CRLF (RFC 9112, 2.2): that alone is not
 * a request. */
static bool is_blank(const struct client *c)
{
    return net_buf_len(c->in) <= 2 && c->in->data[c->in->begin] == '\r';
}

static void too_slow(struct client *c)
{
    if (c->phase == CLIENT_BUSY)
        exchange_late(c->ex);
    else if (c->phase == CLIENT_MUX)
        client_idle_http2(c);
    else if (c->phase == CLIENT_HEAD && !is_blank(c))
        exchange_too_slow(c->ex);
    else
        client_close(c);
}

static void client_fire(struct net_timer *t)
{
    struct client *c = bide__container_of(t, struct client, timer);
    if (c->until_ns == BIDE_FOREVER)
        return;
    if (c->worker->loop.now_ns < c->until_ns)
        net_timer_set(&c->worker->loop, t, c->until_ns);
    else
        too_slow(c);
}

/* ===== the rest of its life cycle ===== */

static bool shake(struct client *c)
{
    const char *why = NULL;
    int rc = c->conn.layer->handshake(&c->conn, &why);
    if (rc == NET_ERROR)
        client_close(c);
    if (rc != 1)
        return false;
    c->conn.readable = true; /* the first request may already be there */
    c->phase = CLIENT_IDLE;
    if (net_tls_is_http2(&c->conn)) {
        client_begin_http2(c);
        return false;
    }
    return true;
}

static bool step(struct client *c)
{
    switch (c->phase) {
    case CLIENT_PROXIED:
        return client_read_proxied(c);
    case CLIENT_HANDSHAKE:
        return shake(c);
    case CLIENT_IDLE:
    case CLIENT_HEAD:
        return client_read_head(c);
    case CLIENT_LINGER:
        return client_discard(c);
    default:
        return false;
    }
}

void client_run(struct client *c)
{
    bool more = true;
    if (c->in_run)
        return;
    c->in_run = true;
    for (int i = 0; i < STEPS && more; i++)
        more = step(c);
    c->in_run = false;
    if (more && c->phase != CLIENT_CLOSED)
        net_task_later(&c->worker->loop, &c->task);
}

static void on_task(struct net_task *t)
{
    client_run(bide__container_of(t, struct client, task));
}

void client_done(struct client *c)
{
    struct exchange *ex = c->ex;
    bool over = ex->close_after || c->is_stream ||
                (c->worker->draining && !c->worker->patient);

    c->ex = NULL;
    c->in->begin = ex->in_end;
    upload_rest(ex);
    exchange_free(ex);
    if (over) {
        client_linger(c);
        return;
    }
    c->phase = CLIENT_IDLE;
    if (net_buf_len(c->in) == 0 && !net_can_read(&c->conn))
        client_rest(c);
    else
        client_run(c);
}

/* ===== nobody ===== */

static ssize_t drop_all(struct net_conn *conn, const struct iovec *iov, int n)
{
    ssize_t all = 0;
    (void)conn;
    for (int i = 0; i < n; i++)
        all += (ssize_t)iov[i].iov_len;
    return all;
}

static ssize_t read_nothing(struct net_conn *conn, void *buf, size_t n)
{
    (void)buf;
    (void)n;
    conn->readable = false;
    return NET_AGAIN;
}

static void do_nothing(struct net_conn *conn)
{
    (void)conn;
}

static bool has_nothing(struct net_conn *conn)
{
    (void)conn;
    return false;
}

static const struct net_layer nowhere = { .read = read_nothing,
                                          .writev = drop_all,
                                          .pending = has_nothing,
                                          .shutdown = do_nothing,
                                          .free = do_nothing };

struct client *client_nobody(const struct client *c)
{
    struct worker *w = c->worker;
    struct client *n = client_alloc(w);
    if (!n)
        return NULL;
    n->conn.io.fd = -1;
    n->conn.session = n;
    n->conn.layer = &nowhere;
    n->conn.writable = true;
    n->timer.fire = client_fire;
    n->task.run = on_task;
    n->worker = w;
    n->phase = CLIENT_BUSY;
    n->nobody = true;
    n->until_ns = BIDE_FOREVER;
    n->trusted = c->trusted;
    n->tls = c->tls;
    n->port = c->port;
    n->address_len = c->address_len;
    memcpy(n->address, c->address, sizeof n->address);
    bide__list_push(&w->clients, &n->all);
    w->n_clients++;
    atomic_store_explicit(&w->now_clients, (unsigned)w->n_clients,
                          memory_order_relaxed);
    count(&w->counters.accepted);
    return n;
}

static void client_ready(struct net_io *io, unsigned events)
{
    struct client *c = (struct client *)io;
    net_conn_note(&c->conn, events);
    if (c->phase == CLIENT_BUSY)
        exchange_client_ready(c->ex);
    else if (c->phase == CLIENT_MUX)
        mux_ready(c->mux);
    else if (c->phase == CLIENT_TUNNEL && c->is_stream && c->conn.broken)
        client_close(c);
    else if (c->phase == CLIENT_TUNNEL)
        tunnel_pump(c->ex);
    else
        client_run(c);
}

void client_begin(struct client *c)
{
    struct worker *w = c->worker;
    c->phase = CLIENT_IDLE;
    if (!client_admit(c)) {
        client_close(c);
        return;
    }
    if (!w->generation->tls)
        return;
    c->tls = true;
    c->phase = CLIENT_HANDSHAKE;
    if (net_tls_accept(&c->conn, w->generation->tls) < 0)
        client_close(c);
}

struct net_conn *client_socket(struct client *c)
{
    return c->is_stream ? &c->carrier->conn : &c->conn;
}

void client_prepare(struct client *c, struct worker *w)
{
    c->conn.io.ready = client_ready;
    c->timer.fire = client_fire;
    c->task.run = on_task;
    c->worker = w;
}

void client_new(struct worker *w, int fd, const struct sockaddr *from)
{
    struct client *c = client_alloc(w);
    if (!c || net_loop_add(&w->loop, &c->conn.io, fd) < 0) {
        count(&w->counters.shed);
        turn_away(w, fd, "memory", "no memory for another connection");
        free(c);
        close(fd);
        return;
    }
    client_prepare(c, w);
    client_set_address(c, from);
    client_set_trust(c);
    bide__list_push(&w->clients, &c->all);
    w->n_clients++;
    atomic_store_explicit(&w->now_clients, (unsigned)w->n_clients,
                          memory_order_relaxed);
    count(&w->counters.accepted);
    client_until(c, net_after(w->loop.now_ns, w->conf->timeouts.header_ns));
    if (client_is_proxied(c))
        c->phase = CLIENT_PROXIED;
    else
        client_begin(c);
}
