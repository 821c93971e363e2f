/* proxy/policy_same.h: whether two policies are the same, so that a dependency
 * survives a reload. */
#ifndef BIDE_PROXY_POLICY_SAME_H
#define BIDE_PROXY_POLICY_SAME_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/bide.h"

bool policy_same(const bide_policy_conf *a, const bide_policy_conf *b);

/* A number that is the same for policies that are, in builds that keep the same
 * state for them. */
uint64_t policy_fingerprint(const bide_policy_conf *policy);

#endif
