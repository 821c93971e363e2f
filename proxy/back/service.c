/* Services: an upstream as a policy sees it, and the dependency behind it.
 *
 * The dependency outlives its service if only the upstream has changed, by
 * another endpoint for example: breaker and budget are about the service as a
 * whole, and losing them at each change of an endpoint would close a breaker in
 * the middle of an outage. With a supervisor it also outlives the process. If the
 * policy of that name has changed, a new dependency inherits its state. */
#include "proxy/back/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "config/field/option_value.h"
#include "config/proxy/conf.h"
#include "proxy/back/upstream.h"
#include "proxy/dep_memory.h"
#include "proxy/generation.h"

/* ===== dependencies ===== */

/* Workers offer free places themselves, by priority (exchange/queue.h): a call
 * that waits for one is asked about when it is its turn. */
static void on_place(void *ctx, const bide_dep *dep)
{
    (void)ctx;
    (void)dep;
}

static void on_breaker(void *ctx, const bide_dep *dep, bide_breaker_state from,
                       bide_breaker_state to, int64_t now_ns)
{
    const struct proxy_hooks *hooks = ((const struct counted_dep *)ctx)->hooks;
    if (hooks->on_breaker)
        hooks->on_breaker(hooks->ctx, dep, from, to, now_ns);
}

static struct counted_dep *dep_new(const struct upstream *u,
                                   const struct bide__proxy_route *c, char *err,
                                   size_t size)
{
    struct counted_dep *d = calloc(1, sizeof *d);
    bide_host host = { .ctx = d,
                       .on_breaker = on_breaker,
                       .on_place = on_place };
    char name[BIDE__PROXY_DEP_NAME + 1];
    if (!d)
        return NULL;
    d->hooks = u->hooks;
    snprintf(name, sizeof name, "%s/%s", u->name, c->policy_name);
    int rc = dep_memory_make(u->hooks->memory, &d->block, &d->dep, name,
                             c->policy, &host);
    if (rc < 0) {
        snprintf(err, size, "policy %s: %s", c->policy_name, bide_strerror(rc));
        free(d);
        return NULL;
    }
    atomic_init(&d->refs, 1);
    if (d->hooks->on_dep)
        d->hooks->on_dep(d->hooks->fleet, d->dep, true);
    return d;
}

static void dep_unref(struct counted_dep *d)
{
    if (!d || atomic_fetch_sub(&d->refs, 1) != 1)
        return;
    if (d->hooks->on_dep)
        d->hooks->on_dep(d->hooks->fleet, d->dep, false);
    dep_memory_release(&d->block, d->dep);
    free(d);
}

/* ===== services ===== */

static bool is_named(const struct service *v, const struct bide__proxy_route *c)
{
    return strcmp(v->policy_name, c->policy_name) == 0;
}

static bool policy_is(const struct service *v,
                      const struct bide__proxy_route *c)
{
    return is_named(v, c) &&
           bide__policy_same(bide_dep_policy(v->dep), c->policy);
}

struct service *service_find(const struct generation *g,
                             const struct upstream *u,
                             const struct bide__proxy_route *c)
{
    for (size_t i = 0; g && i < g->n_services; i++)
        if (g->services[i]->upstream == u && policy_is(g->services[i], c))
            return g->services[i];
    return NULL;
}

/* What was spent stays spent, and an open breaker open. */
static void inherit(bide_dep *dep, const struct generation *old,
                    const struct upstream *u,
                    const struct bide__proxy_route *c)
{
    for (size_t i = 0; old && i < old->n_services; i++) {
        const struct service *v = old->services[i];
        if (strcmp(v->upstream->name, u->name) == 0 && is_named(v, c)) {
            bide_dep_inherit(dep, v->dep, bide_now_ns());
            return;
        }
    }
}

/* That of the old generation for an upstream of that name, or a new one. */
static struct counted_dep *take_dep(const struct generation *old,
                                    const struct upstream *u,
                                    const struct bide__proxy_route *c,
                                    char *err, size_t size)
{
    for (size_t i = 0; old && i < old->n_services; i++) {
        struct service *v = old->services[i];
        if (strcmp(v->upstream->name, u->name) != 0 || !policy_is(v, c))
            continue;
        atomic_fetch_add(&v->counted->refs, 1);
        return v->counted;
    }
    struct counted_dep *d = dep_new(u, c, err, size);
    if (d)
        inherit(d->dep, old, u, c);
    return d;
}

struct service *service_new(struct upstream *u,
                            const struct bide__proxy_route *c,
                            const struct generation *old, char *err,
                            size_t size)
{
    struct service *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    atomic_init(&s->refs, 1);
    s->upstream = u;
    s->plain = c->policy->n_rules == 0;
    s->policy_name = strdup(c->policy_name);
    s->counted = s->policy_name ? take_dep(old, u, c, err, size) : NULL;
    if (!s->counted) {
        service_unref(s);
        return NULL;
    }
    s->dep = s->counted->dep;
    return s;
}

void service_unref(struct service *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    dep_unref(s->counted);
    free(s->policy_name);
    free(s);
}
