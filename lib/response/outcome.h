/* What the files that read a server's response share. */
#ifndef BIDE_LIB_RESPONSE_OUTCOME_H
#define BIDE_LIB_RESPONSE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/hint.h"
#include "bide/outcome.h"
#include "bide/policy.h"

/* Classifies by these rules first, then by the table of defaults. The rules
 * have been validated by bide_policy_check(); the response is not trusted, and
 * may be NULL, which is the caller's mistake, and permanent. */
bide_outcome bide__classify(const bide_rule *rules, size_t n_rules,
                            const bide_response *r);

/* Takes Envoy's word (x-envoy-overloaded) that a failure is its own refusal; for
 * policies that trust it. */
void bide__heed_envoy(bide_outcome *out, const bide_response *r);

/* The class of a fault unless a rule overrides it, and whether such a fault
 * proves by itself that the request had no effect. */
bide_class bide__fault_class(bide_fault fault);
bool bide__fault_unsent(bide_fault fault);

#endif
