/* proxy/exchange/route.h: which upstream and policy a request uses. */
#ifndef BIDE_PROXY_EXCHANGE_ROUTE_H
#define BIDE_PROXY_EXCHANGE_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/proxy/conf.h"
#include "net/http1/head.h"

struct generation;
struct request_counts;
struct service;

/* Bytes of a route's name, and its NUL; how many routes have counts of their
 * own: the rest are counted together, as `other`. */
enum { ROUTE_NAME = 96, ROUTES_COUNTED = 500 };

/* Threads: immutable. */
struct route {
    const struct bide__proxy_route *conf;
    struct service *service;
    size_t host_len, path_len, exact_len, method_len, header_len, value_len;
    size_t grpc_len;
    uint8_t header_id;   /* enum http1_id of conf->match.header */
    bool header_dropped; /* fields of that name are ignored */
    bool can_fail;       /* by fault injection */
    bool has_fallback;   /* for when the policy gives up */
    const struct route
        *fallback;               /* to the upstream that it falls back on ... */
    const struct route *primary; /* ... and back from there; or NULL */
    struct request_counts *counts; /* a fallback has those of its primary */
    char name[ROUTE_NAME]; /* what it matches: "POST api.example.org/health" */
};

/* The first route that takes the request, or NULL. */
const struct route *route_find(const struct generation *g,
                               const struct http1_head *head, const char *buf);
void route_init(struct route *r, const struct bide__proxy_route *conf,
                const struct bide__proxy_headers *headers,
                struct service *service);

/* Names the i-th route of a generation by what it matches, and gives it counts:
 * those of an earlier route of the same name and dependency, in this generation
 * or the old one (may be NULL); else new ones. False: no memory. */
bool route_count(struct generation *g, size_t i, const struct generation *old,
                 unsigned n_workers);

#endif
