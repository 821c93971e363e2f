/* Reading a policy file: what the files that do it share. */
#ifndef BIDE_CONFIG_POLICY_LOAD_H
#define BIDE_CONFIG_POLICY_LOAD_H

#include "base/arena.h"
#include "config/doc/diag.h"

/* Threads: owned. */
struct bide__load {
    bide_config *config;
    struct bide__tree *tree;
    bide_diagnostics *notes; /* never NULL */
    bool no_memory;
};

/* Memory that lives as long as the config; NULL is remembered. */
void *bide__load_alloc(struct bide__load *load, size_t size);

/* Adds an error about a node. */
#define bide__mistake(load, node, code, help, ...)                             \
    bide__diag((load)->notes, (load)->tree, node, BIDE_MISTAKE, code, help,    \
               __VA_ARGS__)

/* An error unless the value of a key is a map, or empty; then false. */
bool bide__expect_map(struct bide__load *load, const struct bide__node *key,
                      const struct bide__node *node, const char *help);

/* "unknown key", with the nearest of those known, or with `help`. */
void bide__unknown_key(struct bide__load *load, const struct bide__node *key,
                       const char *const *known, const char *help);

/* The nearest name of a policy, as a help. */
const char *bide__suggest_policy(struct bide__load *load, const char *found);

/* The parts of a policy file. */
void bide__load_policies(struct bide__load *load, const struct bide__node *key,
                         struct bide__node *policies);

#endif
