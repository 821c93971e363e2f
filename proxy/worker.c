/* A worker's thread: its loop, and messages from other threads. */
#include "proxy/worker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "bide/run.h"
#include "config/proxy/conf.h"
#include "proxy/access_log.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/health.h"
#include "proxy/back/knock.h"
#include "proxy/back/link.h"
#include "proxy/back/pool.h"
#include "proxy/back/upstream.h"
#include "proxy/descriptors.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/front/accept.h"
#include "proxy/front/client.h"
#include "proxy/front/client_address.h"
#include "proxy/front/client_http2.h"
#include "proxy/front/client_limits.h"
#include "proxy/generation.h"
#include "proxy/once/port.h"
#include "proxy/proxy.h"

enum {
    FREE_BUFS = NET_SPARES(256),
    DRAIN_MOMENT_MS = 20,
    HEAD_SLACK = 2048, /* by how much a head may grow on its way through */
};

/* ===== beginning ===== */

static void init_pools(struct endpoint *e, struct worker *w)
{
    pool_init(&e->pools[w->index], w);
    if (e->others)
        pool_init(&e->others[w->index], w);
}

static void retire_endpoint(struct endpoint *e, const struct worker *w)
{
    pool_retire(&e->pools[w->index]);
    if (e->others)
        pool_retire(&e->others[w->index]);
}

static void attach_pools(struct worker *w)
{
    struct generation *g = w->generation;
    for (size_t i = 0; i < g->n_upstreams; i++)
        for (unsigned e = 0; e < g->upstreams[i]->n_endpoints; e++)
            init_pools(&g->upstreams[i]->endpoints[e], w);
}

static bool generation_begin(struct worker *w)
{
    struct generation_use *use = calloc(1, sizeof *use);
    if (!use)
        return false;
    use->generation = w->generation = proxy_generation(w->proxy);
    w->use = use;
    return true;
}

static void generation_end(struct generation_use *use)
{
    generation_unref(use->generation);
    free(use);
}

void generation_leave(struct worker *w, struct generation_use *use)
{
    if (--use->n_exchanges == 0 && use != w->use)
        generation_end(use);
}

static void set_conf(struct worker *w)
{
    unsigned n = w->proxy->n_workers;
    w->conf = w->generation->conf;
    w->limits_clients = proxy_limits_clients(w->conf);
    worker_set_limits(w);
    if (w->bufs.size)
        w->bufs.max_taken = w->conf->limits.memory_bytes / n / w->bufs.size;
}

struct http2_conf worker_http2(const struct worker *w)
{
    const struct bide__proxy_http2 *c = &w->conf->http2;
    struct http2_conf conf = HTTP2_CONF_INIT;
    conf.streams = c->streams;
    conf.window = c->window_bytes;
    conf.connection_window = c->connection_window_bytes;
    conf.resets = c->resets;
    conf.resets_per_s = c->resets / 10;
    conf.errors_per_min = c->errors;
    conf.control = c->control;
    conf.control_per_s = c->control / 5;
    conf.headers = w->conf->limits.headers;
    conf.header_bytes = w->conf->limits.header_bytes;
    conf.head_ns = w->conf->timeouts.header_ns;
    return conf;
}

static void reload(struct worker *w);

static void on_pause(struct net_timer *t)
{
    struct worker *w = bide__container_of(t, struct worker, pause);
    worker_resume(w);
    if (w->behind)
        reload(w);
}

static void close_idle(struct worker *w)
{
    for (struct bide__list *at = w->clients.next, *next; at != &w->clients;
         at = next) {
        struct client *c = bide__container_of(at, struct client, all);
        next = at->next;
        if (c->phase == CLIENT_IDLE)
            client_abort(c);
        else if (c->phase == CLIENT_MUX && c->mux->n_streams == 0)
            client_drain_http2(c);
    }
}

static void on_drained(struct net_timer *t)
{
    struct worker *w = bide__container_of(t, struct worker, drain);
    if (w->loop.now_ns >= w->drain_until_ns)
        w->over = true;
    else
        net_timer_set(&w->loop, t, w->drain_until_ns);
    close_idle(w);
}

static void woken(struct net_loop *loop);

struct worker *worker_new(struct proxy *proxy, unsigned index, char *err,
                          size_t err_size)
{
    struct worker *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
    snprintf(err, err_size, "no memory");
    if (!w)
        return NULL;
    memset(w, 0, sizeof *w);
    bide__list_init(&w->clients);
    for (int i = 0; i < N_QUEUES; i++)
        bide__list_init(&w->queues[i]);
    w->proxy = proxy;
    w->index = index;
    w->spare_attempt = malloc(sizeof *w->spare_attempt);
    if (!w->spare_attempt || !generation_begin(w)) {
        free(w->spare_attempt);
        free(w);
        return NULL;
    }
    if (net_loop_init(&w->loop) < 0) {
        snprintf(err, err_size, "no descriptors left");
        generation_end(w->use);
        free(w->spare_attempt);
        free(w);
        return NULL;
    }
    w->loop.user = w;
    w->loop.woken = woken;
    w->pause.fire = on_pause;
    w->drain.fire = on_drained;
    w->hunger.fire = worker_look_again;
    w->spare_fd = -1;
    w->random = bide_rng_hash((uint64_t)w->loop.now_ns, index, 0, 0) | 1;
    net_bufs_init(&w->bufs,
                  w->generation->conf->limits.header_bytes + HEAD_SLACK,
                  FREE_BUFS);
    mux_shared_init(&w->mux, &w->loop, &w->bufs, FIELDS_MAX,
                    w->generation->conf->limits.header_bytes);
    set_conf(w);
    attach_pools(w);
    proxy->workers[index] = w;
    return w;
}

/* ===== messages ===== */

/* Closes idle connections to endpoints that are no longer used. */
static void retire_pools(struct worker *w, const struct generation *old)
{
    for (size_t i = 0; i < old->n_upstreams; i++) {
        struct upstream *u = old->upstreams[i];
        for (unsigned e = 0;
             !generation_has(w->generation, u) && e < u->n_endpoints; e++)
            retire_endpoint(&u->endpoints[e], w);
    }
}

static void trust_anew(struct worker *w)
{
    for (struct bide__list *at = w->clients.next; at != &w->clients;
         at = at->next) {
        struct client *c = bide__container_of(at, struct client, all);
        client_set_trust(c);
        client_follow(c);
    }
}

/* What is being served goes on by the generation that it began with, which it
 * holds. False: no memory for all of it. */
static bool go_over(struct worker *w)
{
    struct generation_use *old = w->use;
    if (!generation_begin(w))
        return false;
    set_conf(w);
    bool fine = w->draining || worker_listen(w);
    trust_anew(w);
    attach_pools(w);
    retire_pools(w, old->generation);
    fine &= once_follow(w);
    fine &= access_log_follow(w);
    knock_follow(w);
    if (w->index == 0)
        fine &= health_follow(w);
    if (old->n_exchanges == 0)
        generation_end(old);
    return fine;
}

static void try_again(struct worker *w)
{
    w->behind = true;
    worker_look_later(w);
}

static void reload(struct worker *w)
{
    w->behind = false;
    if (!go_over(w))
        try_again(w);
}

/* HTTP/2 has a word for it, after which no request is lost. */
static void drain_streams(struct worker *w)
{
    for (struct bide__list *at = w->clients.next, *next; at != &w->clients;
         at = next) {
        struct client *c = bide__container_of(at, struct client, all);
        next = at->next;
        if (c->phase == CLIENT_MUX)
            mux_drain(c->mux);
    }
}

/* A client that has just connected, or is about to send its next request, gets
 * a moment for that. If another process serves there is no hurry: each client
 * is told in the response to its next request, so that none is lost to a
 * connection that was closed meanwhile. */
static void drain(struct worker *w, bool patient)
{
    int64_t now = w->loop.now_ns, moment = DRAIN_MOMENT_MS * BIDE_MILLISECOND;
    if (w->draining && (patient || !w->patient))
        return;
    if (!w->draining)
        worker_unlisten(w);
    w->draining = true;
    drain_streams(w);
    w->patient = patient;
    w->drain_until_ns = net_after(now, w->conf->timeouts.drain_ns);
    net_timer_set(&w->loop, &w->drain,
                  patient || w->drain_until_ns < now + moment
                      ? w->drain_until_ns
                      : now + moment);
    worker_eased(w);
}

static void woken(struct net_loop *loop)
{
    struct worker *w = (struct worker *)loop;
    unsigned told = atomic_exchange(&w->told, 0);
    if (told & WORKER_RELOAD)
        reload(w);
    if (told & WORKER_ROTATE)
        access_log_follow(w);
    if (told & WORKER_NAMES)
        worker_serve_pools(w);
    if (told & WORKER_EASE)
        worker_ease(w);
    if (told & WORKER_HAND_OVER)
        drain(w, true);
    if (told & WORKER_DRAIN)
        drain(w, false);
    if (told & WORKER_STOP)
        w->over = true;
}

void worker_tell(struct worker *w, enum worker_message message)
{
    atomic_fetch_or(&w->told, (unsigned)message);
    net_loop_wake(&w->loop);
}

void worker_eased(struct worker *w)
{
    if (w->draining && w->n_clients == 0)
        w->over = true;
}

/* ===== the thread ===== */

static void *run(void *arg)
{
    struct worker *w = arg;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    event_thread(w);
    w->loop.now_ns = bide_now_ns();
    if (w->index == 0 && !health_follow(w))
        try_again(w);
    while (!w->over) {
        net_loop_step(&w->loop);
        count(&w->turns);
    }
    if (w->log)
        access_log_flush(w->log);
    atomic_store(&w->ended, true);
    return NULL;
}

int worker_start(struct worker *w)
{
    return pthread_create(&w->thread, NULL, run, w);
}

void worker_join(struct worker *w)
{
    pthread_join(w->thread, NULL);
}

/* ===== the end ===== */

static void free_lists(struct worker *w)
{
    struct client *c;
    struct exchange *ex;
    struct attempt *a;
    struct link *l;
    while ((c = w->free_clients))
        w->free_clients = c->next, free(c);
    while ((ex = w->free_exchanges))
        w->free_exchanges = ex->next, free(ex);
    while ((a = w->free_attempts))
        w->free_attempts = a->next, free(a);
    while ((l = w->free_links))
        w->free_links = l->next, free(l);
    free(w->spare_attempt);
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    if (!w->draining)
        worker_unlisten(w);
    w->draining = w->over = true; /* nothing goes on without its client */
    while (!bide__list_empty(&w->clients))
        client_abort(bide__container_of(w->clients.next, struct client, all));
    for (size_t i = 0; i < w->generation->n_upstreams; i++)
        for (unsigned e = 0; e < w->generation->upstreams[i]->n_endpoints; e++)
            retire_endpoint(&w->generation->upstreams[i]->endpoints[e], w);
    health_end_all(w);
    knock_end_all(w);
    once_port_free(w->once);
    net_loop_done(&w->loop);
    free_lists(w);
    mux_shared_done(&w->mux);
    net_bufs_done(&w->bufs);
    access_log_free(w->log);
    generation_end(w->use);
    if (w->spare_fd >= 0)
        close(w->spare_fd);
    free(w);
}
