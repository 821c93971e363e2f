/* Clients that speak HTTP/2: a connection, and a client for each of its streams.
 *
 * A stream's client reads a head, is served and closed like any other. What
 * belongs to the connection stays with it: the limits of an address, being
 * counted, idleness, and the end when the process drains. */
#include <string.h>

#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/stream/mux.h"
#include "proxy/front/client.h"
#include "proxy/front/client_http2.h"
#include "proxy/front/client_linger.h"
#include "proxy/worker.h"

enum { LAST_WORDS_MS = 2000 }; /* for a peer that does not close */

static struct client *client_of(const struct mux *m)
{
    return m->user;
}

/* ===== streams ===== */

static struct net_conn *on_stream(struct mux *m)
{
    struct client *carrier = client_of(m);
    struct worker *w = carrier->worker;
    struct client *c = client_alloc(w);
    if (!c)
        return NULL;
    client_prepare(c, w);
    c->is_stream = c->begun = true;
    c->carrier = carrier;
    memcpy(c->address, carrier->address, sizeof c->address);
    c->address_len = carrier->address_len;
    c->port = carrier->port;
    c->trusted = carrier->trusted;
    c->tls = carrier->tls;
    c->place = carrier->place;
    c->phase = CLIENT_IDLE;
    count(&w->counters.http2_streams);
    client_until(carrier, BIDE_FOREVER);
    return &c->conn;
}

/* ===== the connection ===== */

static void on_eased(struct mux *m)
{
    struct client *c = client_of(m);
    const struct worker *w = c->worker;
    if (m->n_streams == 0 && c->until_ns == BIDE_FOREVER)
        client_until(c, net_after(w->loop.now_ns, w->conf->timeouts.idle_ns));
}

static void on_over(struct mux *m, bool broken)
{
    struct client *c = client_of(m);
    if (broken && m->http2.why != HTTP2_WHY_NONE) {
        count(&c->worker->counters.http2_failed);
        count(&c->worker->http2_closed[m->http2.why]);
    }
    if (m->broken) {
        client_abort(c);
        return;
    }
    c->phase = CLIENT_LINGER;
    mux_close(m);
    client_linger(c);
}

static const struct mux_calls calls = {
    .accept = on_stream,
    .eased = on_eased,
    .over = on_over,
};

void client_begin_http2(struct client *c)
{
    struct worker *w = c->worker;
    struct net_buf *in = c->in;
    const struct http2_conf conf = worker_http2(w);
    struct mux *m = mux_new(&w->mux, HTTP2_SERVER, &conf, &calls, &c->conn);
    if (!m) {
        client_abort(c);
        return;
    }
    count(&w->counters.http2_clients);
    m->user = c;
    c->mux = m;
    c->begun = true;
    c->phase = CLIENT_MUX;
    c->in = NULL;
    client_until(c, net_after(w->loop.now_ns, w->conf->timeouts.idle_ns));
    if (in)
        mux_feed(m, net_buf_at(in), net_buf_len(in));
    net_buf_give(&w->bufs, in);
    if (w->draining && c->phase == CLIENT_MUX)
        mux_drain(m);
}

void client_drain_http2(struct client *c)
{
    mux_drain(c->mux);
    client_until(c, c->worker->loop.now_ns + LAST_WORDS_MS * BIDE_MILLISECOND);
}

/* Twice: it has had its time. */
void client_idle_http2(struct client *c)
{
    if (c->mux->http2.closing && c->mux->n_streams == 0)
        client_abort(c);
    else
        client_drain_http2(c);
}
