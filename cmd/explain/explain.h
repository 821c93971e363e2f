/* `bide explain` in three steps: args.c reads the flags, ask.c asks the engine,
 * facts.c and show.c print the answer with what each rule looked at. */
#ifndef BIDE_CMD_EXPLAIN_EXPLAIN_H
#define BIDE_CMD_EXPLAIN_EXPLAIN_H

#include <string.h>

#include "bide/call.h"
#include "bide/claim.h"
#include "bide/hint.h"
#include "cmd/common/policy_choice.h"

enum { MAX_HEADERS = 100 };

/* The question. The strings belong to argv. */
struct situation {
    struct policy_choice policy;
    char method[32];
    bide_op op;
    bide_claim above;           /* among the headers */
    bide_response response;     /* valid if `answered` */
    bool answered;              /* there is an outcome to judge */
    const char *stream_end;     /* how its stream of HTTP/2 did; or NULL */
    bide_header headers[MAX_HEADERS];
    char *body;                 /* to be freed */
    uint32_t attempt;           /* the attempt with this outcome */
    int64_t elapsed_ns;         /* since the call began */
    bool breaker_open, budget_spent;
    bool json;
};

/* The engine's answer. */
struct answer {
    const char *decision;       /* "try", "retry", "stop" */
    bide_reason reason;
    uint32_t attempts;          /* that the policy allows, hedges included */
    int64_t timeout_ns;         /* of the next attempt */

    bide_outcome outcome;       /* if there was one */
    bide_hint_source hint_source;
    const char *refused_by;     /* the field that forbade a retry; or NULL */
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
