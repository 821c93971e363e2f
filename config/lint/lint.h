/* What the lints share. A lint looks at one policy with everything inherited,
 * and blames the node that set the option at fault, wherever that stands; what
 * comes from a preset or from a default is nobody's fault, and not told. */
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

/* The longest that all the waits of n attempts may take together, and that a
 * whole call may take with timeouts. Saturate at BIDE_FOREVER. */
int64_t bide__longest_waits(const bide_policy_conf *conf, uint32_t attempts);
int64_t bide__longest_call(const bide_policy_conf *conf, uint32_t attempts);

/* Whether the policy retries at all. */
bool bide__retries(const struct bide__linting *l);

/* The lints, by what they look at. */
void bide__lint_time(const struct bide__linting *l);
void bide__lint_load(const struct bide__linting *l);
void bide__lint_choices(const struct bide__linting *l);
void bide__lint_outcomes(const struct bide__linting *l);
void bide__lint_idle(const struct bide__linting *l);

/* Those that look at the section of the sidecar. */
void bide__lint_proxy(const bide_config *config, bide_diagnostics *notes);
void bide__lint_routes(const bide_config *config, bide_diagnostics *notes);

#endif
