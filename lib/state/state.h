/* The state of a dependency under another policy than its own: what a shared
 * state says to a process whose policy has changed since it was made. */
#ifndef BIDE_LIB_STATE_STATE_H
#define BIDE_LIB_STATE_STATE_H

#include "bide/state.h"
#include "lib/policy.h"

/* The settings without which a shared state cannot be read. */
struct bide__made_for {
    bide_budget_conf budget;
    bide_breaker_conf breaker;
};

struct bide__made_for bide__made_for(const bide_policy_conf *conf);

/* Reads the shared part of `dep` as one that was made for `other`, and when it
 * was last used. Nobody else may be using it. */
bide_dep_state bide__state_of_other(bide_dep *dep,
                                    const struct bide__made_for *other,
                                    int64_t *ret_at_ns);

#endif
