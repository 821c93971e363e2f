/* Connections to endpoints that speak HTTP/2: shared by attempts, a stream for
 * each.
 *
 * No attempt is sent before the endpoint's settings are known: so that there are
 * never more streams than it allows, and a server that does not speak HTTP/2 is
 * found out while nothing has been sent yet.
 *
 * A connection that is to end, because it is old, its endpoint has moved or says
 * so (GOAWAY), gets no new streams; those that it has end as they would have. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "base/list.h"
#include "config/proxy/conf.h"
#include "net/stream/mux.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/link.h"
#include "proxy/back/link_http2.h"
#include "proxy/back/pool.h"
#include "proxy/back/upstream.h"
#include "proxy/exchange/attempt.h"
#include "proxy/worker.h"

#define PING_MOST_NS (7200 * BIDE_SECOND)

/* A peer that is dead is found in 20 s, whether or not something is under way.
 * The kernel asks: servers count PINGs, and punish. */
enum { PROBE_AFTER_S = 5, PROBE_EVERY_S = 5, DEAD_AFTER_MS = 15000 };

static struct link *link_of(const struct mux *m)
{
    return m->user;
}

static int64_t now_of(const struct link *l)
{
    return l->pool->worker->loop.now_ns;
}

static void watch(int fd)
{
    const int on = 1, after = PROBE_AFTER_S, every = PROBE_EVERY_S;
    const int dead = DEAD_AFTER_MS;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &after, sizeof after);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead, sizeof dead);
}

/* ===== the connection ===== */

/* Unused, it ends after a while; used, it is asked now and then whether it is
 * still there. */
static void set_timer(struct link *l)
{
    struct pool *p = l->pool;
    int64_t idle = p->endpoint->upstream->conf.idle_timeout_ns;
    net_timer_set(
        &p->worker->loop, &l->timer,
        net_after(now_of(l), l->mux->n_streams == 0 ? idle : p->ping_ns));
}

void link_shared_fire(struct link *l)
{
    if (l->mux->n_streams == 0) {
        link_close(l); /* the line may wait for a place, where it allows none */
        return;
    }
    http2_ping(&l->mux->http2, now_of(l));
    mux_later(l->mux);
    set_timer(l);
}

/* Its settings are there. */
static void share(struct link *l)
{
    struct pool *p = l->pool;
    struct attempt *a = l->attempt;
    p->n_connecting--;
    bide__list_remove(&l->list);
    l->phase = LINK_SHARED;
    bide__list_push(&p->shared, &l->list);
    gauge_up(&p->n_shared);
    if (a) {
        a->making = NULL;
        l->attempt = NULL;
        struct link *s = link_stream(p, a);
        if (s) {
            s->attempt = a;
            attempt_linked(a, s);
        } else {
            attempt_fail(a, BIDE_FAULT_LOCAL);
        }
    }
    if (l->phase == LINK_SHARED)
        set_timer(l);
}

/* Open is what can take a request. One that is going away already, or allows no
 * stream yet, is being opened still, and fails if that is all that comes: were it
 * shared, nobody could use it, and another would be opened in its place, and
 * another, as fast as the endpoint accepts them. */
static bool is_open(const struct mux *m)
{
    const struct http2_conn *c = &m->http2;
    return c->peer.known && c->peer.streams > 0 && !c->goaway_in &&
           !c->failed && !m->broken;
}

static void on_eased(struct mux *m)
{
    struct link *l = link_of(m);
    struct pool *p = l->pool;
    uint32_t streams = m->http2.peer.streams;
    if (m->http2.peer.known && streams > 0)
        p->streams = streams > 1000 ? 1000 : streams;
    if (l->phase == LINK_CONNECTING && is_open(m))
        share(l);
    if (l->phase == LINK_SHARED && m->n_streams == 0)
        set_timer(l);
    pool_serve(p);
}

/* gRPC servers say so to who asks too often. */
static void on_goaway(struct mux *m, const char *debug, size_t n)
{
    static const char pings[] = "too_many_pings";
    struct pool *p = link_of(m)->pool;
    if (m->http2.goaway_code == HTTP2_ENHANCE_YOUR_CALM &&
        memmem(debug, n, pings, sizeof pings - 1) && p->ping_ns < PING_MOST_NS)
        p->ping_ns *= 2;
}

static void on_over(struct mux *m, bool broken)
{
    struct link *l = link_of(m);
    (void)broken;
    bool malformed = m->http2.why != HTTP2_WHY_NONE;
    if (l->phase == LINK_CONNECTING)
        link_connect_failed(l, malformed ? BIDE_FAULT_MALFORMED
                                         : BIDE_FAULT_RESET);
    else
        link_close(l);
}

static const struct mux_calls calls = {
    .eased = on_eased,
    .goaway = on_goaway,
    .over = on_over,
};

bool link_greet(struct link *l)
{
    struct worker *w = l->pool->worker;
    struct http2_conf conf = worker_http2(w);
    conf.headers = FIELDS_MAX;
    l->mux = mux_new(&w->mux, HTTP2_CLIENT, &conf, &calls, &l->conn);
    if (!l->mux)
        return false;
    l->mux->user = l;
    watch(l->conn.io.fd);
    return true;
}

/* ===== its streams ===== */

static bool is_usable(struct link *l)
{
    if (l->mux->http2.closing || l->mux->http2.goaway_in)
        return false;
    if (now_of(l) < l->renew_ns && !l->conn.hup && link_leads_there(l))
        return true;
    mux_drain(l->mux);
    return false;
}

/* The connection that is used most of all that have room: so that those that are
 * not needed become idle, and end. */
static struct link *find_shared(struct pool *p, const struct attempt *a)
{
    for (struct bide__list *at = p->shared.next; at != &p->shared;
         at = at->next) {
        struct link *l = bide__container_of(at, struct link, list);
        if (mux_may_open(l->mux) > 0 && is_usable(l) &&
            (!p->proxied || link_is_for(l, a)))
            return l;
    }
    return NULL;
}

struct link *link_stream(struct pool *p, struct attempt *a)
{
    struct link *on = find_shared(p, a), *l;
    if (!on || !(l = link_alloc(p->worker)))
        return NULL;
    l->conn.io = (struct net_io){ .ready = link_ready, .fd = -1 };
    l->pool = p;
    l->phase = LINK_STREAM;
    if (on->mux->n_streams == 0)
        net_timer_set(&p->worker->loop, &on->timer,
                      net_after(now_of(on), p->ping_ns));
    if (mux_open(on->mux, &l->conn))
        return l;
    l->phase = LINK_CLOSED;
    link_discard(l);
    return NULL;
}

void link_drain_shared(struct pool *p)
{
    for (struct bide__list *at = p->shared.next, *next; at != &p->shared;
         at = next) {
        struct link *l = bide__container_of(at, struct link, list);
        next = at->next;
        if (l->mux->n_streams == 0)
            link_drop(l);
        else
            mux_drain(l->mux);
    }
}
