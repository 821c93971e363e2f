/* Lints: what is allowed but unwise in a policy. */
#ifndef BIDE_CONFIG_LINT_RULES_H
#define BIDE_CONFIG_LINT_RULES_H

#include <stddef.h>

#include "bide/config.h"

struct bide__policy_entry;
struct bide__service;

/* Finds what is allowed but unwise in one policy, or in all. Warnings. What
 * `stated` says about the service goes before what the file says; or NULL. */
void bide__lint(const bide_config *config, const struct bide__policy_entry *entry,
                bide_diagnostics *notes);
void bide__lint_with(const bide_config *config,
                     const struct bide__policy_entry *entry,
                     const struct bide__service *stated,
                     bide_diagnostics *notes);

/* Every lint there is: code, title and sentence, for the reference and SARIF. */
struct bide__lint_rule {
    const char *code;  /* "L001" */
    const char *name;  /* "no-jitter" */
    const char *why;   /* one sentence */
};
const struct bide__lint_rule *bide__lint_rules(size_t *ret_n);

/* The one of this code, or NULL. */
const struct bide__lint_rule *bide__lint_of(const char *code);

#endif
