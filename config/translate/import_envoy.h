/* The parts of the importer of Envoy configurations. */
#ifndef BIDE_CONFIG_TRANSLATE_IMPORT_ENVOY_H
#define BIDE_CONFIG_TRANSLATE_IMPORT_ENVOY_H

#include "config/translate/import.h"

/* Policies by the cluster that they are for; policies may move, so this has
 * their indices. Threads: owned. */
struct bide__envoy {
    struct bide__envoy_target {
        const char *cluster;
        size_t policy;
        struct bide__envoy_target *next;
    } * targets;
};

/* A virtual host: a policy and a route of the sidecar for each of its routes. */
void bide__envoy_host(struct bide__import *im, struct bide__envoy *e,
                      const struct bide__node *host);

/* A RouteAction by itself, as `bide export` writes it. */
void bide__envoy_action(struct bide__import *im, struct bide__envoy *e,
                        const struct bide__node *action);

/* A cluster: its servers, and what it adds to the policies that lead there. */
void bide__envoy_cluster(struct bide__import *im, struct bide__envoy *e,
                         const struct bide__node *cluster);

/* Sets a policy to what Envoy does by default: nothing is retried. */
void bide__envoy_defaults(struct bide__named_policy *p);

#endif
