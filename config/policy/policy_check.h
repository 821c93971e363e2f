/* A policy: its rules (policy_rules.c), and what it must be as a whole
 * (policy_check.c). */
#ifndef BIDE_CONFIG_POLICY_POLICY_CHECK_H
#define BIDE_CONFIG_POLICY_POLICY_CHECK_H

#include "config/policy/policy_file.h"

struct bide__load;

/* Reads `rules`, `retry_on` and `problems`; then checks the whole. Mistakes are
 * noted. */
void bide__load_rules(struct bide__load *load,
                      struct bide__policy_entry *entry);
void bide__check_policy(struct bide__load *load,
                        const struct bide__policy_entry *entry);

#endif
