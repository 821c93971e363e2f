/* Lints of one policy: its times (time.c), and the load that it makes (load.c). */
#ifndef BIDE_CONFIG_LINT_POLICY_LINTS_H
#define BIDE_CONFIG_LINT_POLICY_LINTS_H

#include <stdint.h>

#include "bide/policy.h"

struct bide__linting;

/* The longest that all the waits of n attempts may take together, and that a
 * whole call may take with timeouts. Saturate at BIDE_FOREVER. */
int64_t bide__longest_waits(const bide_policy_conf *conf, uint32_t attempts);
int64_t bide__longest_call(const bide_policy_conf *conf, uint32_t attempts);

/* The lints, by what they look at. */
void bide__lint_time(const struct bide__linting *l);
void bide__lint_load(const struct bide__linting *l);
void bide__lint_choices(const struct bide__linting *l);

#endif
