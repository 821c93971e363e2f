/* proxy/generation.h: a configuration while it is in use: routes, upstreams,
 * endpoints, and their dependencies in the engine.
 *
 *     struct generation *g = generation_new(conf, config, n_workers, &hooks,
 *                                           NULL, err, sizeof err);
 *     const struct route *r = route_find(g, head, buf);
 *     ...                                                       // SIGHUP
 *     struct generation *next = generation_new(new_conf, new_config, n_workers,
 *                                              &hooks, g, err, sizeof err);
 *     generation_unref(g);          // each worker, once nothing of it uses g
 *
 * A generation never changes; a reload creates another beside it. What did not
 * change is the same object in both: an upstream whose settings are the same
 * keeps its endpoints, their connections and ejections; a route with the same
 * policy, to an upstream of the same name, keeps its dependency, and with it
 * breaker and budget.
 *
 * Each attempt has two dependencies. That of the route (upstream and policy)
 * decides everything: retries, budget, hedges, breaker. That of the endpoint
 * has only a breaker, which decides whether the endpoint is ejected. */
#ifndef BIDE_PROXY_GENERATION_H
#define BIDE_PROXY_GENERATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/bide.h"
#include "config/proxy/conf.h"
#include "proxy/hooks.h"

struct carried_totals;
struct once_store;
struct route;
struct service;
struct upstream;

/* Threads: immutable, except refs. */
struct generation {
    atomic_uint refs;
    const struct bide__proxy_conf *conf;
    bide_config *owner; /* of conf's memory; freed with it; or NULL */
    struct route *routes;
    size_t n_routes;
    struct route
        *fallbacks; /* of each route; used where it has another upstream */
    struct upstream **upstreams;
    size_t n_upstreams;
    struct service **services;
    struct carried_totals *carried; /* of each service */
    size_t n_services;
    uint64_t generation; /* from 1 */
    const struct proxy_hooks *hooks;
    void *tls; /* settings for clients; or NULL */
    struct once_store *store; /* of Idempotency-Keys; NULL: no route has any */
};

/* Creates a generation, reusing from `old` what did not change; old may be
 * NULL. Then owns `owner`; `hooks` must outlive it. NULL, and why in err; owner
 * is then still the caller's. */
struct generation *generation_new(const struct bide__proxy_conf *conf,
                                  bide_config *owner, unsigned n_workers,
                                  const struct proxy_hooks *hooks,
                                  struct generation *old, char *err,
                                  size_t err_size);
void generation_ref(struct generation *g);
void generation_unref(struct generation *g); /* frees it after the last */

/* Whether an upstream is in it, the very object. */
bool generation_has(const struct generation *g, const struct upstream *u);

#endif
