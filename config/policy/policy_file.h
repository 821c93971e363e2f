/* The internals of policy files: what `bide check`, the exporters and the
 * programs with their own sections need beyond bide/config.h.
 *
 *   version: 1
 *   policies:
 *     default:  { attempts: 4, backoff: { base: 100ms, ... }, ... }
 *     payments: { extends: default, idempotency: { key: generate } }
 *     search:   { extends: default, attempts: 1,
 *                 hedge: { after: p95, max: 1 } }
 *     aws:      { preset: aws-standard }
 *   proxy: ...     # sections of the programs; read by them
 *
 * The keys of a policy are those of bide_policy_options(), a dot for each
 * level, and these, which are more than a number:
 *
 *   extends     the name of another policy; preset: of a built-in one
 *   hedge.after `p95` is short for `after: quantile, quantile: 0.95`
 *   retry_on    { status: [408, 429, 500-599], errors: [connect, reset],
 *                 grpc: [UNAVAILABLE] }: only these are retried; a missing
 *                 list leaves its part unchanged
 *   rules       a list of { status, errors, grpc, method, header, value,
 *                 problem_type, class, not_processed }; asked before retry_on
 *   problems    { <type URI>: <class> }, short for rules on problem_type
 *   service     facts about the service, for the lints: { capacity: 500/s,
 *                 load: 300/s, p99: 800ms, clients: 40, depth: 3 } */
#ifndef BIDE_CONFIG_POLICY_POLICY_FILE_H
#define BIDE_CONFIG_POLICY_POLICY_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/config.h"
#include "config/doc/tree.h"

/* What a policy file states about the service, or -1 / 0 where it does not. */
struct bide__service {
    double capacity_per_s; /* < 0: not stated */
    double load_per_s;     /* < 0 */
    int64_t p99_ns;        /* < 0 */
    uint32_t clients;      /* 0 */
    uint32_t depth;        /* 0 */
};

#define BIDE__SERVICE_INIT { -1, -1, -1, 0, 0 }

/* Its keys, which are flags of `bide check` as well. */
extern const struct bide__table bide__service_table;

/* One named policy as it was read. */
struct bide__policy_entry {
    const char *name;
    bide_policy_conf conf;       /* with everything inherited */
    struct bide__service service;
    struct bide__node *node;     /* its map in the tree */
    struct bide__node *key;      /* its name in the tree */
    /* For each option, the node that set it, in this policy or in one that it
     * extends; NULL: a default or a preset. */
    struct bide__node **set_by;
    struct bide__node *retry_on; /* or NULL */
    struct bide__node *rules;    /* or NULL */
    struct bide__node *problems; /* or NULL */
    /* The lists of retry_on, each inherited by itself; or NULL. */
    struct bide__node *retry_status, *retry_errors, *retry_grpc;
    struct bide__node *extends, *preset;      /* their values, or NULL */
    const struct bide__policy_entry *parent;  /* that it extends, or NULL */
    struct bide__policy_entry *child; /* while chains are read, and ... */
    int state;                   /* ... how far that has come (policy_file.c) */
};

struct bide_config {
    struct bide__tree *tree;
    struct bide__policy_entry *entries;
    size_t n_entries;
    struct bide__node *policies; /* their map; NULL if there is none */
    struct bide__node *proxy;    /* sections, or NULL */
    struct bide__proxy_conf *proxy_conf; /* what `proxy` says, or NULL */
    const struct bide__store_settings *store; /* what `store` says, or its
                                    default */
    const struct bide__fleet_settings *fleet; /* what `fleet` says, or NULL */
    struct bide__node *worker_node;           /* the section, or NULL */
    const struct bide__worker_settings *worker; /* what it says, or NULL */
};

const struct bide__policy_entry *bide__config_entry(const bide_config *config,
                                                    const char *name);

#endif
