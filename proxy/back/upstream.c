/* Upstreams: created from, and compared with, their configuration. */
#include "proxy/back/request_counts.h"
#include "proxy/back/upstream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/field/own.h"
#include "config/field/same.h"
#include "config/proxy/conf.h"
#include "net/resolve.h"
#include "net/tls.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/pool.h"
#include "proxy/worker.h"

enum { USUAL_STREAMS = 100 }; /* that servers allow */
#define PING_NS (300 * BIDE_SECOND)

/* ===== the same? ===== */

/* Changes when one of the files does. */
static uint64_t files_stamp(const struct bide__proxy_client_tls *c)
{
    const char *files[] = { c->ca, c->certificate, c->key };
    uint64_t stamp = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct stat s;
        if (files[i] && stat(files[i], &s) == 0)
            stamp = bide_rng_hash(stamp, (uint64_t)s.st_mtim.tv_sec,
                                  (uint64_t)s.st_mtim.tv_nsec,
                                  (uint64_t)s.st_size ^ (uint64_t)s.st_ino);
    }
    return stamp;
}

bool upstream_same(const struct upstream *u,
                   const struct bide__proxy_upstream *c)
{
    struct bide__proxy_upstream mine = u->conf;
    struct bide__proxy_endpoint endpoints[BIDE__PROXY_MAX_ENDPOINTS];

    mine.endpoints = endpoints;
    for (unsigned i = 0; i < u->n_endpoints; i++)
        endpoints[i].url = u->endpoints[i].url;
    return strcmp(u->name, c->name) == 0 &&
           bide__fields_same(&bide__proxy_upstream_table, &mine, c) &&
           u->tls_stamp == files_stamp(&c->tls);
}

/* ===== endpoints ===== */

static void on_breaker(void *ctx, const bide_dep *dep, bide_breaker_state from,
                       bide_breaker_state to, int64_t now_ns)
{
    struct endpoint *e = ctx;
    const struct proxy_hooks *hooks = e->upstream->hooks;
    if (hooks->on_breaker)
        hooks->on_breaker(hooks->ctx, dep, from, to, now_ns);
    if (to == BIDE_BREAKER_OPEN)
        endpoint_eject(e, EJECTED_BY_BREAKER);
    else if (to == BIDE_BREAKER_CLOSED)
        endpoint_restore(e, EJECTED_BY_BREAKER, now_ns);
}

static int breaker_new(struct endpoint *e, const struct bide__proxy_upstream *c)
{
    bide_policy_conf p = bide__ejection_policy(&c->ejection);
    bide_host host = { .ctx = e, .on_breaker = on_breaker };

    return bide_dep_new_in(&e->breaker, e->url, &p, &host);
}

static char *authority_of(const struct bide__proxy_endpoint *c)
{
    size_t size = strlen(c->host) + 10;
    char *text = malloc(size);
    bool v6 = strchr(c->host, ':') != NULL;
    if (!text)
        return NULL;
    if (c->port == (c->tls ? 443 : 80))
        snprintf(text, size, v6 ? "[%s]" : "%s", c->host);
    else
        snprintf(text, size, v6 ? "[%s]:%u" : "%s:%u", c->host,
                 (unsigned)c->port);
    return text;
}

/* Endpoints that may speak either have pools for the one that most of them are
 * asked in, and others. */
static enum pool_speaks speaks_of(const struct endpoint *e,
                                  const struct bide__proxy_upstream *c,
                                  bool other)
{
    if (c->protocol != BIDE__SPEAKS_AUTO)
        return c->protocol == BIDE__SPEAKS_HTTP2 ? POOL_HTTP2 : POOL_HTTP1;
    if (e->tls)
        return other ? POOL_HTTP1 : POOL_EITHER;
    return other ? POOL_HTTP2 : POOL_HTTP1;
}

static struct pool *pools_new(struct endpoint *e,
                              const struct bide__proxy_upstream *c,
                              unsigned n_workers, bool other)
{
    struct pool *pools = aligned_alloc(64, n_workers * sizeof *pools);
    if (!pools)
        return NULL;
    memset(pools, 0, n_workers * sizeof *pools);
    for (unsigned w = 0; w < n_workers; w++) {
        struct pool *p = &pools[w];
        p->endpoint = e;
        p->speaks = (uint8_t)speaks_of(e, c, other);
        p->streams = p->speaks == POOL_HTTP2 ? USUAL_STREAMS : 1;
        p->ping_ns = PING_NS;
        bide__list_init(&p->shared);
        bide__list_init(&p->idle);
        bide__list_init(&p->connecting);
        bide__list_init(&p->line);
        p->proxied = c->proxy_protocol != BIDE__PROXY_TELLS_NOTHING;
        p->max_links = (uint32_t)worker_share(c->connections, w, n_workers);
        p->max_idle = (uint32_t)worker_share(c->idle, w, n_workers);
        p->max_connecting = (uint32_t)worker_share(c->connecting, w, n_workers);
    }
    return pools;
}


/* Names are resolved later, by a separate thread (resolver.c). */
static int set_address(struct endpoint *e, char *err, size_t err_size)
{
    const char *why;
    if (!net_is_address(e->host))
        return 0;
    struct net_addresses *it = net_resolve(e->host, e->port, &why);
    bool fine = it && endpoint_move(e, it);
    free(it);
    if (!fine)
        snprintf(err, err_size, "no memory");
    return fine ? 0 : -1;
}

static int endpoint_init(struct endpoint *e, struct upstream *u, unsigned index,
                         char *err, size_t err_size)
{
    const struct bide__proxy_endpoint *c = &u->conf.endpoints[index];
    pthread_mutex_init(&e->lock, NULL);
    e->upstream = u;
    e->index = index;
    e->url = strdup(c->url);
    e->host = strdup(c->host);
    e->authority = authority_of(c);
    e->port = c->port;
    e->tls = c->tls;
    e->counts = request_counts_get(u, e->authority);
    bool two = u->conf.protocol == BIDE__SPEAKS_AUTO;
    e->pools = pools_new(e, &u->conf, u->n_workers, false);
    e->others = two ? pools_new(e, &u->conf, u->n_workers, true) : NULL;
    if (!e->url || !e->host || !e->authority || !e->counts || !e->pools ||
        (two && !e->others)) {
        snprintf(err, err_size, "no memory");
        return -1;
    }
    int rc = u->conf.n_endpoints > 1 ? breaker_new(e, &u->conf) : 0;
    if (rc < 0) {
        snprintf(err, err_size, "%s: %s", e->url, bide_strerror(rc));
        return -1;
    }
    return set_address(e, err, err_size);
}

static void endpoint_done(struct endpoint *e)
{
    free(e->url);
    free(e->host);
    free(e->authority);
    free(e->addresses);
    pthread_mutex_destroy(&e->lock);
    free(e->pools);
    free(e->others);
    request_counts_unref(e->counts);
    bide_dep_free(e->breaker);
}

/* ===== upstreams ===== */

/* The settings for TLS, if an endpoint uses it. */
static bool settings_new(struct upstream *u, char *err, size_t err_size)
{
    const struct bide__proxy_client_tls *c = &u->conf.tls;
    bool needed = false;
    for (size_t i = 0; i < u->conf.n_endpoints; i++)
        needed = needed || u->conf.endpoints[i].tls;
    u->tls_stamp = files_stamp(c);
    if (!needed)
        return true;
    u->tls = net_tls_client_new(c->ca, c->certificate, c->key, c->verify, err,
                                err_size);
    return u->tls != NULL;
}

/* What it is, but for its endpoints. The texts become its own, since a
 * configuration is freed with its generation. False: no memory. */
static bool fill(struct upstream *u, const struct bide__proxy_upstream *conf)
{
    u->conf = *conf;
    bool owned = bide__fields_own(&bide__proxy_upstream_table, &u->conf);
    u->name = strdup(conf->name);
    u->max_ejected = bide__most_ejected(&conf->ejection, conf->n_endpoints);
    u->endpoints = calloc(conf->n_endpoints, sizeof *u->endpoints);
    return owned && u->name && u->endpoints;
}

static bool fill_endpoints(struct upstream *u, char *err, size_t err_size)
{
    for (size_t i = 0; i < u->conf.n_endpoints; i++) {
        u->n_endpoints++;
        if (endpoint_init(&u->endpoints[i], u, (unsigned)i, err, err_size) < 0)
            return false;
    }
    return true;
}

struct upstream *upstream_new(const struct bide__proxy_upstream *conf,
                              unsigned n_workers,
                              const struct proxy_hooks *hooks, char *err,
                              size_t err_size)
{
    struct upstream *u = calloc(1, sizeof *u);
    snprintf(err, err_size, "no memory");
    if (!u)
        return NULL;
    atomic_init(&u->refs, 1);
    u->n_workers = n_workers;
    u->hooks = hooks;
    if (!fill(u, conf) || !settings_new(u, err, err_size) ||
        !fill_endpoints(u, err, err_size)) {
        upstream_unref(u);
        return NULL;
    }
    u->conf.endpoints = NULL; /* the caller's */
    u->conf.name = u->name;
    return u;
}

void upstream_unref(struct upstream *u)
{
    if (!u || atomic_fetch_sub(&u->refs, 1) != 1)
        return;
    for (unsigned i = 0; i < u->n_endpoints; i++)
        endpoint_done(&u->endpoints[i]);
    free(u->endpoints);
    net_tls_free(u->tls);
    bide__fields_disown(&bide__proxy_upstream_table, &u->conf);
    free(u->name);
    free(u);
}
