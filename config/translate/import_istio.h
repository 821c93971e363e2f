/* The parts of the importer of Istio resources. */
#ifndef BIDE_CONFIG_TRANSLATE_IMPORT_ISTIO_H
#define BIDE_CONFIG_TRANSLATE_IMPORT_ISTIO_H

#include "config/translate/import.h"

/* A resource while it is being read, and the targets of its routes. */
struct bide__istio {
    const char *name; /* of the resource; never NULL */
    const struct bide__node *hosts; /* of a VirtualService; or NULL */
    struct bide__istio_target *targets;
};

/* A host that the policy of a route is for. Policies may move, so this holds
 * the policy's index. */
struct bide__istio_target {
    const char *host;
    unsigned port; /* 0: not said */
    const struct bide__node *where;
    size_t policy;
    struct bide__istio_target *next;
};

/* Reads `spec` of a VirtualService: a policy for each of its HTTP routes. */
void bide__istio_virtual_service(struct bide__import *im,
                                 struct bide__istio *is,
                                 const struct bide__node *spec);

/* Reads `retries` of a route into a struct bide__named_policy. */
void bide__istio_retries(struct bide__import *im, void *policy,
                         struct bide__node *key, struct bide__node *value);

/* Reads the words of retryOn, which are Envoy's. */
void bide__mesh_conditions(struct bide__import *im, struct bide__retry_set *set,
                           const struct bide__node *where, const char *text);

/* Sets a policy to what Istio does by default. */
void bide__istio_defaults(struct bide__named_policy *p);

#endif
