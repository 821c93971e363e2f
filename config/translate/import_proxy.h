/* The `proxy:` section of an import: where requests go, and what is done about
 * single servers, which is no part of a policy.
 *
 *     struct bide__import_upstream *u = bide__import_upstream(im, "pay");
 *     bide__import_endpoint(im, node, u, "http", "pay.prod", 8080);
 *     struct bide__import_route *r = bide__import_route(im, u, policy);
 *     r->path = "/pay/";
 *     bide__import_write(stdout, im);
 */
#ifndef BIDE_CONFIG_TRANSLATE_IMPORT_PROXY_H
#define BIDE_CONFIG_TRANSLATE_IMPORT_PROXY_H

#include "config/translate/import.h"

struct bide__import_endpoint {
    const char *url;
    struct bide__import_endpoint *next;
};

/* Ejection is off unless set: what a source does not do, the sidecar does not
 * do either. */
struct bide__import_upstream {
    const char *name; /* unique */
    struct bide__import_endpoint *endpoints, **last;
    unsigned n_endpoints;
    uint32_t consecutive; /* ejection; 0: never */
    double failure_rate;
    int64_t open_ns;
    double max_ejected;
    struct bide__import_upstream *next;
};

struct bide__import_route {
    const char *host, *path, *exact, *method; /* each or NULL */
    const struct bide__import_upstream *upstream;
    size_t policy; /* its index */
    struct bide__import_route *next;
};

/* The upstream of that name, a new one if there is none. NULL: no memory. */
struct bide__import_upstream *bide__import_upstream(struct bide__import *im,
                                                    const char *name);

/* Adds a server to it, once; port 0: the usual one. A name that no URL can have
 * is left out, with a warning at `where`. */
void bide__import_endpoint(struct bide__import *im,
                           const struct bide__node *where,
                           struct bide__import_upstream *u, const char *scheme,
                           const char *host, unsigned port);

/* A route at the end of the list. NULL: no memory. */
struct bide__import_route *
bide__import_route(struct bide__import *im,
                   const struct bide__import_upstream *u, size_t policy);

/* Whether the sidecar can match such a host, or path. */
bool bide__import_host_fits(const char *host);
bool bide__import_path_fits(const char *path);

/* Writes the policy file: policies, and `proxy:` if there are routes. */
void bide__import_write(FILE *out, const struct bide__import *im);

#endif
