/* `bide explain` in three steps: what is asked (args.c reads the
 * flags), what the engine answers (ask.c), how it is told
 * (facts.c says what each rule looked at, show.c prints it). */
#ifndef BIDE_CMD_EXPLAIN_EXPLAIN_H
#define BIDE_CMD_EXPLAIN_EXPLAIN_H

#include <string.h>

#include "bide/call.h"
#include "bide/hint.h"
#include "cmd/common/policy_choice.h"

enum { MAX_HEADERS = 100 };

/* What is asked. The strings belong to argv. */
struct situation {
    struct policy_choice policy;
    char method[32];
    bide_op op;
    bide_response response;     /* counts if `answered` */
    bool answered;              /* there is an outcome to judge */
    bide_header headers[MAX_HEADERS];
    char *body;                 /* to be freed */
    uint32_t attempt;           /* that has just had this outcome */
    int64_t elapsed_ns;         /* since the call began */
    bool json;
};

/* What the engine answers. */
struct answer {
    const char *decision;       /* "try", "retry", "stop" */
    bide_reason reason;
    uint32_t attempts;          /* that the policy allows, hedges included */
    int64_t timeout_ns;         /* of the attempt that it says to make */

    bide_outcome outcome;       /* if there was one */
    bide_hint_source hint_source;
    const char *refused_by;     /* who said not to retry; or NULL */
    bool by_rule;               /* the class is not the default one */

    bool judged;                /* the rules were asked, and ... */
    bide_verdict verdict;
    int64_t previous_ns;        /* the wait before this attempt, as drawn; 0 */
    int64_t deadline_ns;        /* since the call began; or FOREVER */
    int64_t budget_left, budget_all; /* retries; FOREVER: no budget */
    bide_breaker_state breaker; /* after the outcome */
    int64_t open_until_ns;
};

static inline bool explain_stops(const struct answer *a)
{
    return strcmp(a->decision, "stop") == 0;
}

/* Takes a flag, for flags_parse(). */
const char *explain_take(void *situation, const char *name,
                         const char *argument);

/* Runs the call through the engine. 0, or a BIDE_E... */
int explain_ask(struct situation *s, struct answer *ret);

#endif
