/* What the lints share. A lint looks at one policy with everything inherited,
 * and blames the node that set the option, wherever that is; what comes from a
 * preset or a default is not reported. */
#ifndef BIDE_CONFIG_LINT_LINT_H
#define BIDE_CONFIG_LINT_LINT_H

#include "config/doc/diag.h"
#include "config/policy/policy_file.h"

/* Threads: owned. */
struct bide__linting {
    const bide_config *config;
    const struct bide__policy_entry *entry;
    struct bide__service service; /* of the entry, or as stated */
    bide_diagnostics *notes;
};

/* The node that set the first of these options that any node did; or NULL. */
struct bide__node *bide__set_by(const struct bide__linting *l,
                                const char *const *keys);
#define BIDE__SET_BY(l, ...)                                                   \
    bide__set_by(l, (const char *const[]){ __VA_ARGS__, NULL })

/* Adds a warning. */
#define bide__warn(l, node, code, help, ...)                                   \
    bide__diag((l)->notes, (l)->config->tree, node, BIDE_WARNING, code, help,  \
               __VA_ARGS__)

/* Whether the policy retries at all. */
bool bide__retries(const struct bide__linting *l);

#endif
