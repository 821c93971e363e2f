/* From a configuration to what runs, with all that did not change taken over
 * from the state before. */
#include "proxy/generation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/proxy/conf.h"
#include "net/tls.h"
#include "proxy/back/carried_totals.h"
#include "proxy/back/endpoint_counts.h"
#include "proxy/back/service.h"
#include "proxy/back/upstream.h"
#include "proxy/exchange/route.h"

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

/* Its own, the one of the state before, or a new one. */
static struct service *take_service(struct generation *s,
                                    const struct generation *old,
                                    const struct bide__proxy_route *c,
                                    char *err, size_t size)
{
    struct upstream *u = s->upstreams[c->upstream];
    struct service *v = service_find(s, u, c);
    if (v)
        return v;
    v = service_find(old, u, c);
    if (v)
        atomic_fetch_add(&v->refs, 1);
    else
        v = service_new(u, c, old, err, size);
    if (!v)
        return NULL;
    s->services[s->n_services++] = v;
    return carried_totals_init(s, s->n_services - 1, old) ? v : NULL;
}

static void generation_free(struct generation *s)
{
    for (size_t i = 0; i < s->n_services; i++)
        service_unref(s->services[i]);
    for (size_t i = 0; s->carried && i < s->n_services; i++)
        carried_totals_done(&s->carried[i]);
    for (size_t i = 0; i < s->n_upstreams; i++)
        upstream_unref(s->upstreams[i]);
    free(s->services);
    free(s->carried);
    free(s->upstreams);
    free(s->routes);
    free(s->fallbacks);
    net_tls_free(s->tls);
    bide_config_free(s->owner);
    free(s);
}

/* The settings towards clients, if there are to be any. */
static bool fill_tls(struct generation *s, char *err, size_t size)
{
    const struct bide__proxy_server_tls *c = &s->conf->tls;
    struct net_tls_pair *pairs = calloc(c->n_certificates + 1, sizeof *pairs);
    struct net_tls_server conf = { .pairs = pairs,
                                   .client_ca = c->client_ca,
                                   .client_required = c->client_required };
    if (!pairs)
        return false;
    if (c->certificate)
        pairs[conf.n_pairs++] = (struct net_tls_pair){ c->certificate, c->key };
    for (size_t i = 0; i < c->n_certificates; i++)
        pairs[conf.n_pairs++] =
            (struct net_tls_pair){ c->certificates[i].certificate,
                                   c->certificates[i].key };
    if (conf.n_pairs > 0)
        s->tls = net_tls_server_new(&conf, err, size);
    free(pairs);
    return conf.n_pairs == 0 || s->tls;
}

/* The other upstream of a route is a service as any, with a route of its own.
 */
static int add_fallback(struct generation *s, size_t i,
                        const struct generation *old, char *err, size_t size)
{
    struct route *r = &s->routes[i], *f = &s->fallbacks[i];
    const struct bide__proxy_route *c = r->conf->fallback.route;
    struct service *v = c ? take_service(s, old, c, err, size) : NULL;
    if (!c)
        return 0;
    if (!v)
        return -1;
    route_init(f, c, &s->conf->headers, v);
    f->primary = r;
    f->has_fallback = true;
    r->fallback = f;
    return 0;
}

static int fill(struct generation *s, unsigned n_workers,
                struct generation *old, char *err, size_t size)
{
    const struct bide__proxy_conf *conf = s->conf;
    if (!fill_tls(s, err, size))
        return -1;
    for (size_t i = 0; i < conf->n_upstreams; i++) {
        struct upstream *u = take_upstream(old, &conf->upstreams[i], n_workers,
                                           s->hooks, err, size);
        if (!u)
            return -1;
        s->upstreams[s->n_upstreams++] = u;
    }
    for (size_t i = 0; i < conf->n_routes; i++) {
        struct service *v = take_service(s, old, &conf->routes[i], err, size);
        if (!v)
            return -1;
        route_init(&s->routes[s->n_routes++], &conf->routes[i], &conf->headers,
                   v);
        if (add_fallback(s, i, old, err, size) < 0)
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
    struct generation *s = calloc(1, sizeof *s);
    snprintf(err, err_size, "no memory");
    if (!s)
        return NULL;
    atomic_init(&s->refs, 1);
    s->conf = conf;
    s->hooks = hooks;
    s->generation = old ? old->generation + 1 : 1;
    s->routes = calloc(conf->n_routes + 1, sizeof *s->routes);
    s->upstreams = calloc(conf->n_upstreams + 1, sizeof *s->upstreams);
    s->fallbacks = calloc(conf->n_routes + 1, sizeof *s->fallbacks);
    s->services = calloc(2 * conf->n_routes + 1, sizeof *s->services);
    s->carried = calloc(2 * conf->n_routes + 1, sizeof *s->carried);
    if (!s->routes || !s->fallbacks || !s->upstreams || !s->services ||
        !s->carried || fill(s, n_workers, old, err, err_size) < 0) {
        generation_free(s);
        return NULL;
    }
    s->owner = owner;
    return s;
}

void generation_ref(struct generation *s)
{
    atomic_fetch_add(&s->refs, 1);
}

void generation_unref(struct generation *s)
{
    if (s && atomic_fetch_sub(&s->refs, 1) == 1)
        generation_free(s);
}

bool generation_has(const struct generation *s, const struct upstream *u)
{
    for (size_t i = 0; i < s->n_upstreams; i++)
        if (s->upstreams[i] == u)
            return true;
    return false;
}
