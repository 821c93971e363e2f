/* One connection to an endpoint: opened, kept, closed. */
#include "proxy/back/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "net/address.h"
#include "net/conn.h"
#include "net/stream/mux.h"
#include "net/tls.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/link_http2.h"
#include "proxy/back/pool.h"
#include "proxy/back/upstream.h"
#include "proxy/exchange/attempt.h"
#include "proxy/worker.h"

enum { FREE_LINKS = NET_SPARES(256) };

static struct worker *worker_of(const struct link *l)
{
    return l->pool->worker;
}

/* ===== links ===== */

static void link_free(void *user, struct net_grave *grave)
{
    struct worker *w = user;
    struct link *l = bide__container_of(grave, struct link, grave);
    if (w->n_free_links == FREE_LINKS) {
        free(l);
        return;
    }
    w->n_free_links++;
    l->next = w->free_links;
    w->free_links = l;
}

struct link *link_alloc(struct worker *w)
{
    struct link *l = w->free_links;
    if (!l)
        return calloc(1, sizeof *l);
    w->free_links = l->next;
    w->n_free_links--;
    memset(l, 0, sizeof *l);
    return l;
}

void link_discard(struct link *l)
{
    link_free(l->pool->worker, &l->grave);
}

/* Removes it from all lists, closes it, and frees it after this iteration. */
void link_drop(struct link *l)
{
    struct pool *p = l->pool;
    if (l->phase == LINK_CLOSED)
        return;
    bool stream = l->phase == LINK_STREAM;
    if (l->phase == LINK_IDLE)
        gauge_down(&p->n_idle);
    if (l->phase == LINK_SHARED)
        gauge_down(&p->n_shared);
    if (l->phase == LINK_CONNECTING)
        p->n_connecting--;
    if (l->phase != LINK_BUSY && !stream)
        bide__list_remove(&l->list);
    if (l->phase == LINK_CONNECTING && l->attempt)
        l->attempt->making = NULL;
    l->phase = LINK_CLOSED;
    l->attempt = NULL;
    if (!stream)
        gauge_down(&p->n_links);
    net_timer_cancel(&p->worker->loop, &l->timer);
    if (l->mux)
        mux_close(l->mux);
    net_conn_close(&l->conn);
    net_loop_bury(&p->worker->loop, &l->grave, link_free);
}

void link_close(struct link *l)
{
    struct pool *p = l->pool;
    link_drop(l);
    pool_serve(p);
}

/* It failed before it was connected: tells the first in line, or the attempt
 * that it is for. */
void link_connect_failed(struct link *l, int fault)
{
    struct pool *p = l->pool;
    struct attempt *a = l->attempt ? l->attempt : pool_first(p);
    count(&p->worker->counters.connect_failures);
    link_drop(l);
    if (!a)
        return;
    pool_leave(p, a);
    pool_serve(p);
    attempt_fail(a, (bide_fault)fault);
}

void link_use(struct link *l)
{
    bide__list_remove(&l->list);
    gauge_down(&l->pool->n_idle);
    l->phase = LINK_BUSY;
}

/* Adds it to the idle connections, from which the line is served; no more of
 * them than allowed, but always as many as there are attempts in line. */
static void put_idle(struct link *l)
{
    struct pool *p = l->pool;

    if (bide__list_empty(&p->line) &&
        (gauged(&p->n_idle) >= p->max_idle || p->retired)) {
        link_drop(l);
        return;
    }
    l->phase = LINK_IDLE;
    l->reused = true;
    gauge_up(&p->n_idle);
    bide__list_push(&p->idle, &l->list);
    l->until_ns = net_after(p->worker->loop.now_ns,
                            p->endpoint->upstream->conf.idle_timeout_ns);
    if (!bide__timer_is_set(&l->timer.timer) ||
        l->timer.timer.at_ns > l->until_ns)
        net_timer_set(&p->worker->loop, &l->timer, l->until_ns);
    pool_serve(p);
}

void link_connected(struct link *l)
{
    l->pool->n_connecting--;
    bide__list_remove(&l->list);
    l->phase = LINK_BUSY;
    net_timer_cancel(&worker_of(l)->loop, &l->timer);
    if (l->attempt) {
        l->attempt->making = NULL;
        attempt_linked(l->attempt, l);
        return;
    }
    put_idle(l);
    l->reused = false;
}

/* It is open, and its protocol known. */
static void opened(struct link *l)
{
    enum pool_speaks speaks = (enum pool_speaks)l->pool->speaks;
    bool http2 = speaks == POOL_HTTP2 && !l->conn.session;
    http2 = http2 || net_tls_is_http2(&l->conn);
    if (speaks == POOL_HTTP2 && !http2)
        link_connect_failed(l, BIDE_FAULT_TLS);
    else if (!http2)
        link_connected(l);
    else if (!link_greet(l))
        link_connect_failed(l, BIDE_FAULT_LOCAL);
}

/* Said once, and again only when it was accepted meanwhile, or for another reason: the
 * answer to a client names no more than `tls`. */
static void say_distrust(struct endpoint *e, const char *why)
{
    if (why && atomic_exchange(&e->distrust, why) != why)
        fprintf(stderr, "bide proxy: %s: its certificate is not accepted: %s\n", e->url,
                why);
}

static void shake(struct link *l)
{
    const char *why = NULL;
    int rc = l->conn.layer->handshake(&l->conn, &why);
    if (rc == NET_AGAIN)
        return;
    if (rc == NET_ERROR)
        say_distrust(l->pool->endpoint, why);
    else if (atomic_load(&l->pool->endpoint->distrust))
        atomic_store(&l->pool->endpoint->distrust, NULL);
    if (rc == NET_ERROR)
        link_connect_failed(l, why ? BIDE_FAULT_TLS : BIDE_FAULT_RESET);
    else
        opened(l);
}

static const char *server_name(const struct endpoint *e)
{
    const char *name = e->upstream->conf.tls.server_name;
    return name ? name : e->host;
}

static enum net_tls_offer offer_of(const struct pool *p)
{
    return p->speaks == POOL_HTTP1    ? NET_TLS_HTTP1
           : p->speaks == POOL_HTTP2 ? NET_TLS_HTTP2
                                     : NET_TLS_EITHER;
}

static void connect_ready(struct link *l)
{
    struct endpoint *e = l->pool->endpoint;
    if (l->mux) {
        mux_ready(l->mux);
        return;
    }
    if (l->handshaking) {
        shake(l);
        return;
    }
    if (!l->conn.writable)
        return;
    if (net_connect_result(l->conn.io.fd) != 0) {
        link_connect_failed(l, BIDE_FAULT_CONNECT);
        return;
    }
    if (l->attempt && !link_introduce(l)) {
        link_connect_failed(l, BIDE_FAULT_RESET);
        return;
    }
    if (!e->tls) {
        opened(l);
        return;
    }
    l->handshaking = true;
    if (net_tls_connect(&l->conn, e->upstream->tls, server_name(e),
                        offer_of(l->pool)) < 0)
        link_connect_failed(l, BIDE_FAULT_LOCAL);
    else
        shake(l);
}

void link_ready(struct net_io *io, unsigned events)
{
    struct link *l = (struct link *)io;
    net_conn_note(&l->conn, events);
    switch (l->phase) {
    case LINK_CONNECTING:
        connect_ready(l);
        break;
    case LINK_BUSY:
    case LINK_STREAM:
        attempt_ready(l->attempt);
        break;
    case LINK_SHARED:
        mux_ready(l->mux);
        break;
    case LINK_IDLE:
        /* Unexpected data: it was closed, or the server misbehaves. */
        if (!net_conn_quiet(&l->conn))
            link_close(l);
        break;
    default:
        break;
    }
}

static void link_fire(struct net_timer *t)
{
    struct link *l = bide__container_of(t, struct link, timer);
    struct net_loop *loop = &worker_of(l)->loop;
    if (l->phase == LINK_CONNECTING)
        link_connect_failed(l, BIDE_FAULT_TIMEOUT);
    else if (l->phase == LINK_SHARED)
        link_shared_fire(l);
    else if (l->phase == LINK_IDLE && loop->now_ns >= l->until_ns)
        link_close(l);
    else if (l->phase == LINK_IDLE)
        net_timer_set(loop, &l->timer, l->until_ns);
}

/* A tenth earlier or later, so that those that began together end apart. */
static int64_t renewal(struct pool *p)
{
    int64_t age = p->endpoint->upstream->conf.max_age_ns;
    if (age == BIDE_FOREVER)
        return BIDE_FOREVER;
    int64_t spread = age / 5 + 1;
    int64_t luck = (int64_t)(worker_random(p->worker) % (uint64_t)spread);
    return net_after(p->worker->loop.now_ns, age - spread / 2 + luck);
}

/* Begins to connect. NULL and errno. */
struct link *link_new(struct pool *p)
{
    struct net_loop *loop = &p->worker->loop;
    struct endpoint *e = p->endpoint;
    struct net_address to;
    struct link *l = link_alloc(p->worker);
    unsigned moves = atomic_load(&e->moves);
    int fd = l && endpoint_address(e, p->turn++, &to) ? net_connect(&to) : -1;
    if (fd >= 0 && (size_t)fd >= p->worker->link_fds) {
        close(fd); /* the kernel returns the lowest: there are few left */
        fd = -1;
        errno = EMFILE;
    }
    if (fd < 0) {
        free(l);
        return NULL;
    }
    l->conn.io.ready = link_ready;
    l->timer.fire = link_fire;
    l->pool = p;
    l->moves = moves;
    l->phase = LINK_CONNECTING;
    l->renew_ns = renewal(p);
    if (net_loop_add(loop, &l->conn.io, fd) < 0) {
        close(fd);
        free(l);
        return NULL;
    }
    count(&p->worker->counters.connects);
    gauge_up(&p->n_links);
    p->n_connecting++;
    bide__list_push(&p->connecting, &l->list);
    net_timer_set(
        loop, &l->timer,
        net_after(loop->now_ns, e->upstream->conf.connect_timeout_ns));
    return l;
}

bool link_leads_there(struct link *l)
{
    struct endpoint *e = l->pool->endpoint;
    unsigned moves = atomic_load_explicit(&e->moves, memory_order_relaxed);
    struct net_address a = { .len = sizeof a.to };
    if (l->moves == moves)
        return true;
    l->moves = moves;
    return getpeername(l->conn.io.fd, &a.to.any, &a.len) == 0 &&
           endpoint_is_at(e, &a);
}

void link_release(struct link *l)
{
    if (l->phase == LINK_STREAM || l->pool->retired || worker_of(l)->draining ||
        worker_of(l)->loop.now_ns >= l->renew_ns || !net_conn_quiet(&l->conn)) {
        link_close(l);
        return;
    }
    l->attempt = NULL;
    put_idle(l);
}
