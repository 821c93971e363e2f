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

/* A response while it is looked at. Its body is read when a rule or the hints
 * first ask for it, and then once, however many rules there are.
 * Threads: owned. */
struct bide__answer {
    const bide_response *r;
    bide_fault fault;    /* r->fault, or OTHER if that is none */
    bool status_decides; /* the status counts, not the fault */
    bool problem_read;   /* the two below are set */
    bool has_problem;
    bide_problem problem;
};

/* Gives the problem details, or NULL if there are none. */
const bide_problem *bide__answer_problem(struct bide__answer *a);

/* Tells whether a header field has this name, in any case. */
bool bide__is_field(const bide_header *h, const char *name);

/* Tells whether all that the rule asks for is true of the answer. */
bool bide__rule_matches(const bide_rule *rule, struct bide__answer *a);

/* The class of a fault where no rule says otherwise, and whether such a fault
 * proves by itself that the request had no effect. */
bide_class bide__fault_class(bide_fault fault);
bool bide__fault_unsent(bide_fault fault);

/* Takes in one valid wait from `source`: the most precise source wins, of two
 * of one kind the longer. The order of calls makes no difference. */
void bide__hint_offer(bide_hint *hint, bide_hint_source source,
                      int64_t wait_ns);

#endif
