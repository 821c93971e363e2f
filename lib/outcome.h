/* What the files that read a server's answer share. */
#ifndef BIDE_LIB_OUTCOME_H
#define BIDE_LIB_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/hint.h"
#include "bide/outcome.h"
#include "bide/policy.h"

/* Classifies by these rules first, then by the table of defaults. The rules
 * have been checked by bide_policy_check(); the response is not trusted, and
 * may be NULL, which is the caller's mistake, and permanent. */
bide_outcome bide__classify(const bide_rule *rules, size_t n_rules,
                            const bide_response *r);

/* The class of a fault where no rule says otherwise, and whether such a fault
 * proves by itself that the request had no effect. */
bide_class bide__fault_class(bide_fault fault);
bool bide__fault_unsent(bide_fault fault);

#endif
