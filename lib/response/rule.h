/* Rules: what a policy says of an answer, and the answer while it is looked at. */
#ifndef BIDE_LIB_RESPONSE_RULE_H
#define BIDE_LIB_RESPONSE_RULE_H

#include <stdbool.h>

#include "bide/hint.h"
#include "bide/policy.h"

/* A response while it is examined. Its body is read when a rule or the hints
 * first need it, and only once, however many rules there are.
 * Threads: owned. */
struct bide__answer {
    const bide_response *r;
    bide_fault fault;    /* r->fault, or OTHER if that is none */
    bool status_decides; /* the status counts, not the fault */
    bool problem_read;   /* the two below are set */
    bool has_problem;
    bide_problem problem;
};

/* Returns the problem details, or NULL if there are none. */
const bide_problem *bide__answer_problem(struct bide__answer *a);

/* Returns whether a header field has this name, in any case. */
bool bide__is_field(const bide_header *h, const char *name);

/* Returns whether the response meets all conditions of the rule. */
bool bide__rule_matches(const bide_rule *rule, struct bide__answer *a);

#endif
