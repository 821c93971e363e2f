/* proxy/back/upstream.h: an upstream, created from its configuration and
 * reference-counted by its generations. */
#ifndef BIDE_PROXY_BACK_UPSTREAM_H
#define BIDE_PROXY_BACK_UPSTREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/proxy/conf.h"
#include "proxy/back/endpoint.h"
#include "proxy/hooks.h"

enum { ENDPOINTS_MAX = 64 };

/* A service: equivalent endpoints. Threads: shared. */
struct upstream {
    atomic_uint refs; /* generations that it is in */
    char *name;
    struct bide__proxy_upstream conf; /* owns its strings and arrays */
    struct endpoint *endpoints;
    unsigned n_endpoints;
    unsigned max_ejected;  /* of them may be ejected at once */
    atomic_uint n_ejected; /* are */
    unsigned n_workers;
    const struct proxy_hooks *hooks;
    void *tls;          /* settings towards its endpoints; or NULL */
    uint64_t tls_stamp; /* of the files they were made from */
};

/* Whether a new generation could use it for that configuration. */
bool upstream_same(const struct upstream *u,
                   const struct bide__proxy_upstream *c);
struct upstream *upstream_new(const struct bide__proxy_upstream *conf,
                              unsigned n_workers,
                              const struct proxy_hooks *hooks, char *err,
                              size_t err_size);
void upstream_unref(struct upstream *u);

#endif
