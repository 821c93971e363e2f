/* Creates a generation from a configuration, reusing all that did not change
 * from the old one. */
#include "proxy/back/request_counts.h"
#include "proxy/generation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/proxy/conf.h"
#include "config/store/conf.h"
#include "net/tls.h"
#include "proxy/back/carried_totals.h"
#include "proxy/back/service.h"
#include "proxy/back/upstream.h"
#include "proxy/exchange/route.h"
#include "proxy/once/port.h"

static struct upstream *take_upstream(struct generation *old,
                                      const struct bide__proxy_upstream *c,
                                      unsigned n_workers,
                                      const struct proxy_hooks *hooks,
                                      char *err, size_t size)
{
    for (size_t i = 0; old && i < old->n_upstreams; i++)
        if (upstream_same(old->upstreams[i], c)) {
            atomic_fetch_add(&old->upstreams[i]->refs, 1);
            return old->upstreams[i];
        }
    struct upstream *u = upstream_new(c, n_workers, hooks, err, size);
    for (size_t i = 0; u && old && i < old->n_upstreams; i++)
        if (strcmp(old->upstreams[i]->name, c->name) == 0)
            upstream_count_on(u, old->upstreams[i]);
    return u;
}

/* Its own, that of the old generation, or a new one. */
static struct service *take_service(struct generation *g,
                                    const struct generation *old,
                                    const struct bide__proxy_route *c,
                                    char *err, size_t size)
{
    struct upstream *u = g->upstreams[c->upstream];
    struct service *v = service_find(g, u, c);
    if (v)
        return v;
    v = service_find(old, u, c);
    if (v)
        atomic_fetch_add(&v->refs, 1);
    else
        v = service_new(u, c, old, err, size);
    if (!v)
        return NULL;
    g->services[g->n_services++] = v;
    return carried_totals_init(g, g->n_services - 1, old) ? v : NULL;
}

static void generation_free(struct generation *g)
{
    for (size_t i = 0; i < g->n_routes; i++)
        request_counts_unref(g->routes[i].counts);
    for (size_t i = 0; i < g->n_services; i++)
        service_unref(g->services[i]);
    for (size_t i = 0; g->carried && i < g->n_services; i++)
        carried_totals_done(&g->carried[i]);
    for (size_t i = 0; i < g->n_upstreams; i++)
        upstream_unref(g->upstreams[i]);
    free(g->services);
    free(g->carried);
    free(g->upstreams);
    free(g->routes);
    free(g->fallbacks);
    net_tls_free(g->tls);
    once_store_unref(g->store);
    bide_config_free(g->owner);
    free(g);
}

/* The settings for clients, if there are any. */
static bool fill_tls(struct generation *g, char *err, size_t size)
{
    const struct bide__proxy_server_tls *c = &g->conf->tls;
    struct net_tls_pair *pairs = calloc(c->n_certificates + 1, sizeof *pairs);
    struct net_tls_server conf = { .pairs = pairs,
                                   .client_ca = c->client_ca,
                                   .client_required = c->client_required,
                                   .http2 = true };
    if (!pairs)
        return false;
    if (c->certificate)
        pairs[conf.n_pairs++] = (struct net_tls_pair){ c->certificate, c->key };
    for (size_t i = 0; i < c->n_certificates; i++)
        pairs[conf.n_pairs++] =
            (struct net_tls_pair){ c->certificates[i].certificate,
                                   c->certificates[i].key };
    if (conf.n_pairs > 0)
        g->tls = net_tls_server_new(&conf, err, size);
    free(pairs);
    return conf.n_pairs == 0 || g->tls;
}

/* The fallback upstream of a route is an ordinary service, with its own
 * route. */
static int add_fallback(struct generation *g, size_t i,
                        const struct generation *old, char *err, size_t size)
{
    struct route *r = &g->routes[i], *f = &g->fallbacks[i];
    const struct bide__proxy_route *c = r->conf->fallback.route;
    struct service *v = c ? take_service(g, old, c, err, size) : NULL;
    if (!c)
        return 0;
    if (!v)
        return -1;
    route_init(f, c, &g->conf->headers, v);
    f->primary = r;
    f->counts = r->counts;
    f->has_fallback = true;
    r->fallback = f;
    return 0;
}

/* Where keys are remembered, if any are accepted. */
static bool fill_store(struct generation *g, const bide_config *config,
                       const struct generation *old, char *err, size_t size)
{
    static const struct bide__store_settings nowhere = {
        "memory", false, UINT64_C(1) << 30, 250 * BIDE_MILLISECOND, true
    };
    if (!once_is_used(g->conf))
        return true;
    g->store = once_store_open(config ? bide__config_store(config) : &nowhere,
                               g->hooks, old ? old->store : g->hooks->store,
                               err, size);
    return g->store != NULL;
}

static int fill(struct generation *g, unsigned n_workers,
                struct generation *old, char *err, size_t size)
{
    const struct bide__proxy_conf *conf = g->conf;
    if (!fill_tls(g, err, size))
        return -1;
    for (size_t i = 0; i < conf->n_upstreams; i++) {
        struct upstream *u = take_upstream(old, &conf->upstreams[i], n_workers,
                                           g->hooks, err, size);
        if (!u)
            return -1;
        g->upstreams[g->n_upstreams++] = u;
    }
    for (size_t i = 0; i < conf->n_routes; i++) {
        struct service *v = take_service(g, old, &conf->routes[i], err, size);
        if (!v)
            return -1;
        route_init(&g->routes[g->n_routes++], &conf->routes[i], &conf->headers,
                   v);
        if (!route_count(g, i, old, n_workers) ||
            add_fallback(g, i, old, err, size) < 0)
            return -1;
    }
    return 0;
}

struct generation *generation_new(const struct bide__proxy_conf *conf,
                                  bide_config *owner, unsigned n_workers,
                                  const struct proxy_hooks *hooks,
                                  struct generation *old, char *err,
                                  size_t err_size)
{
    struct generation *g = calloc(1, sizeof *g);
    snprintf(err, err_size, "no memory");
    if (!g)
        return NULL;
    atomic_init(&g->refs, 1);
    g->conf = conf;
    g->hooks = hooks;
    g->generation = old ? old->generation + 1 : 1;
    g->routes = calloc(conf->n_routes + 1, sizeof *g->routes);
    g->upstreams = calloc(conf->n_upstreams + 1, sizeof *g->upstreams);
    g->fallbacks = calloc(conf->n_routes + 1, sizeof *g->fallbacks);
    g->services = calloc(2 * conf->n_routes + 1, sizeof *g->services);
    g->carried = calloc(2 * conf->n_routes + 1, sizeof *g->carried);
    if (!g->routes || !g->fallbacks || !g->upstreams || !g->services ||
        !g->carried || fill(g, n_workers, old, err, err_size) < 0 ||
        !fill_store(g, owner, old, err, err_size)) {
        generation_free(g);
        return NULL;
    }
    g->owner = owner;
    return g;
}

void generation_ref(struct generation *g)
{
    atomic_fetch_add(&g->refs, 1);
}

void generation_unref(struct generation *g)
{
    if (g && atomic_fetch_sub(&g->refs, 1) == 1)
        generation_free(g);
}

bool generation_has(const struct generation *g, const struct upstream *u)
{
    for (size_t i = 0; i < g->n_upstreams; i++)
        if (g->upstreams[i] == u)
            return true;
    return false;
}
