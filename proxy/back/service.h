/* proxy/back/service.h: an upstream under a policy, with the dependency that the
 * engine keeps for the two. */
#ifndef BIDE_PROXY_BACK_SERVICE_H
#define BIDE_PROXY_BACK_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "bide/bide.h"
#include "config/proxy/conf.h"
#include "proxy/dep_memory.h"
#include "proxy/hooks.h"

struct generation;
struct upstream;

/* A dependency of the engine, counted by the services that have it.
 * Threads: shared. */
struct counted_dep {
    struct dep_block block; /* that it lies in; first: dep_memory.h */
    atomic_uint refs;
    bide_dep *dep;
    const struct proxy_hooks *hooks;
    atomic_bool faults; /* on purpose: somebody has switched them on */
};

/* An upstream as a policy sees it, counted by the states that it is in.
 * Threads: shared. */
struct service {
    atomic_uint refs;
    bide_dep *dep; /* that of `counted` */
    struct counted_dep *counted;
    char *policy_name;
    struct upstream *upstream; /* it is in each state where this is */
    bool plain;                /* no rules that look into good answers */
};

/* The service of a state (may be NULL) for that upstream and policy, or NULL.
 */
struct service *service_find(const struct generation *g,
                             const struct upstream *u,
                             const struct bide__proxy_route *c);

/* Makes one, with the dependency of the state before (may be NULL) if there was
 * one with that policy for an upstream of that name. NULL, and why. */
struct service *service_new(struct upstream *u,
                            const struct bide__proxy_route *c,
                            const struct generation *old, char *err,
                            size_t size);
void service_unref(struct service *s); /* NULL is fine */

#endif
