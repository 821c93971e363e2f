/* proxy/back/service.h: an upstream under a policy, with the engine's
 * dependency for the two. */
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

/* A dependency of the engine, reference-counted by its services. Threads:
 * shared. */
struct counted_dep {
    struct dep_block block; /* its memory; first: dep_memory.h */
    atomic_uint refs;
    bide_dep *dep;
    const struct proxy_hooks *hooks;
    atomic_bool faults; /* fault injection is turned on */
};

/* An upstream as a policy sees it, reference-counted by its generations.
 * Threads: shared. */
struct service {
    atomic_uint refs;
    bide_dep *dep; /* that of `counted` */
    struct counted_dep *counted;
    char *policy_name;
    struct upstream *upstream; /* in every generation of this service */
    bool plain;                /* no rules that examine successful responses */
};

/* The service of a generation (may be NULL) for that upstream and policy, or
 * NULL. */
struct service *service_find(const struct generation *g,
                             const struct upstream *u,
                             const struct bide__proxy_route *c);

/* Creates one, with the dependency of the old generation (may be NULL) if there
 * was one with that policy for an upstream of that name; if the policy has
 * changed, with a new one that takes over what that one has learned. NULL, and
 * why. */
struct service *service_new(struct upstream *u,
                            const struct bide__proxy_route *c,
                            const struct generation *old, char *err,
                            size_t size);
void service_unref(struct service *s); /* NULL is fine */

#endif
