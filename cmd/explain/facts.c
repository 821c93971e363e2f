/* What each rule of a decision looked at, in a few words.
 *
 * Nothing is decided here. The engine has decided; these are the facts that it
 * had, one function for each rule. */
#include <string.h>

#include "base/people.h"
#include "cmd/explain/explain.h"
#include "cmd/explain/show.h"

/* A text being written, with buffers for its durations. */
struct note {
    const struct situation *s;
    const struct answer *a;
    const bide_policy_conf *conf;
    bool applies;
    char *text;
    size_t size;
};

#define SAY(n, ...) snprintf((n)->text, (n)->size, __VA_ARGS__)

struct brief {
    char text[32];
};

static struct brief brief(int64_t ns)
{
    struct brief b;
    bide__brief_duration(ns, b.text, sizeof b.text);
    return b;
}

#define D(ns) (brief(ns).text)

/* "status 503", "a reset", "gRPC UNAVAILABLE" */
static void name_outcome(const struct situation *s, char *text, size_t size)
{
    const bide_response *r = &s->response;

    if (r->fault != BIDE_FAULT_NONE)
        snprintf(text, size, "error %s", bide_fault_name(r->fault));
    else if (r->is_grpc)
        snprintf(text, size, "gRPC %s", bide_grpc_name(r->grpc_status));
    else
        snprintf(text, size, "status %d", r->status);
}

static void cancelled(struct note *n)
{
    SAY(n,
        n->applies ? "the caller gave it up" : "the caller did not give it up");
}

static void client_timeout(struct note *n)
{
    if (n->applies)
        SAY(n, "the caller gave it %s, the policy gives more",
            D(n->a->deadline_ns));
    else
        SAY(n, "no deadline of the caller's cut it off");
}

static void upload(struct note *n)
{
    SAY(n, n->applies ? "the client did not deliver the body in time"
                      : "the client did not hold it up");
}

static void connection_wait(struct note *n)
{
    SAY(n, n->applies ? "no connection became free in time"
                      : "it did not wait for a connection in vain");
}

static void permanent(struct note *n)
{
    char what[48];

    name_outcome(n->s, what, sizeof what);
    SAY(n, "%s is %s, %s", what, bide_class_name(n->a->outcome.cls),
        n->a->by_rule ? "by a rule of the policy" : "by default");
}

static void server_refused(struct note *n)
{
    if (n->a->refused_by)
        SAY(n, "the server says not to retry, in %.60s", n->a->refused_by);
    else if (n->applies)
        SAY(n, "the class is overloaded");
    else
        SAY(n, "no word against a retry");
}

static void not_idempotent(struct note *n)
{
    const char *method = n->s->method;

    if (n->applies && n->s->response.is_grpc)
        SAY(n,
            "it may have been processed: the policy does not list the code in "
            "retry_on.grpc, and nothing says that the call is idempotent");
    else if (n->applies)
        SAY(n,
            "%s may have been processed, is not idempotent, and carries no "
            "idempotency key",
            method);
    else if (n->a->outcome.not_processed && n->s->response.is_grpc)
        SAY(n, "the policy lists the code as safe to repeat (retry_on.grpc)");
    else if (n->a->outcome.not_processed)
        SAY(n, "the request was not processed");
    else if (n->s->op.idempotent)
        SAY(n, "%s is idempotent", method);
    else if (n->s->op.has_key)
        SAY(n, "%s carries an idempotency key", method);
    else
        SAY(n, "%s is given an idempotency key (idempotency.key: generate)",
            method);
}

static void not_replayable(struct note *n)
{
    if (!n->s->op.one_shot_body)
        SAY(n, "the request can be sent again");
    else if (n->applies)
        SAY(n, "the body can be sent only once, and has been");
    else
        SAY(n, "the body can be sent only once, and has not been");
}

/* The server did not begin with it: the first time, that costs nothing. */
static bool is_free(const struct note *n)
{
    return n->a->reason == BIDE_BECAUSE_NOT_PROCESSED;
}

static void attempts(struct note *n)
{
    if (is_free(n))
        SAY(n, "this one does not count");
    else
        SAY(n, "%u of %u used", n->s->attempt, n->a->attempts);
}

static void upstream_retries(struct note *n)
{
    uint32_t above = n->s->op.upstream_attempt;

    const bide_claim *claim = &n->s->above;

    if (above == 0)
        SAY(n, "no layer above retries");
    else if (n->applies && claim->max)
        SAY(n, "the layer above retries: attempt %u of %u, says %s", above,
            claim->max, bide_claim_source_name(claim->source));
    else if (n->applies)
        SAY(n, "the layer above retries: attempt %u, says %s", above,
            claim->attempt ? bide_claim_source_name(claim->source)
                           : "--upstream-attempt");
    else
        SAY(n, "the layer above retries, and so does this one (nested: retry)");
}

static void no_hint(struct note *n)
{
    if (n->a->outcome.cls != BIDE_THROTTLED)
        SAY(n, "not throttled");
    else if (n->a->outcome.hinted)
        SAY(n, "throttled, and %s says for how long",
            bide_hint_name(n->a->hint_source));
    else
        SAY(n, "throttled without a hint, and the policy %s then",
            n->applies ? "stops" : "backs off");
}

static void hint_too_long(struct note *n)
{
    int64_t hint = n->a->outcome.hint_ns;
    int64_t max = n->conf->retry_after.max_ns;

    if (!n->a->outcome.hinted)
        SAY(n, "no hint");
    else if (hint == 0)
        SAY(n, "%s says: now, or a time that has passed",
            bide_hint_name(n->a->hint_source));
    else
        SAY(n, "%s says %s, and retry_after.max is %s",
            bide_hint_name(n->a->hint_source), D(hint), D(max));
}

static void deadline(struct note *n)
{
    const struct answer *a = n->a;
    int64_t wait = a->judged ? a->verdict.wait_ns : 0;

    if (a->deadline_ns == BIDE_FOREVER)
        SAY(n, "there is none");
    else
        SAY(n, "%s gone, %s to wait, %s to try: %s %s", D(n->s->elapsed_ns),
            D(wait), D(n->conf->attempt_min_ns),
            n->applies ? "does not fit" : "fits", D(a->deadline_ns));
}

static void breaker_open(struct note *n)
{
    const bide_breaker_conf *b = &n->conf->breaker;

    if (b->kind == BIDE_BREAKER_OFF)
        SAY(n, "there is no breaker");
    else if (b->mode == BIDE_BREAKER_FORCED_OPEN)
        SAY(n, "forced open");
    else if (b->mode == BIDE_BREAKER_FORCED_CLOSED)
        SAY(n, "forced closed");
    else if (n->s->breaker_open)
        SAY(n, "open");
    else if (n->a->breaker == BIDE_BREAKER_OPEN)
        SAY(n, "this failure opened it, for %s%s",
            D(n->a->open_until_ns - n->s->elapsed_ns),
            b->mode == BIDE_BREAKER_DRY_RUN ? " (dry_run)" : "");
    else if (b->consecutive)
        SAY(n,
            "closed (opens at %u failures in a row, or at %g%% of at least "
            "%u calls)",
            b->consecutive, b->failure_rate * 100, b->min_calls);
    else
        SAY(n, "closed (opens at %g%% failures of at least %u calls)",
            b->failure_rate * 100, b->min_calls);
}

static void budget(struct note *n)
{
    if (n->applies && n->conf->hedge.max && n->a->budget_left > 0)
        SAY(n,
            "this is the first call, and hedges may be %g%% of the calls "
            "(hedge.extra_load)",
            n->conf->hedge.extra_load * 100);
    else if (n->a->budget_all == BIDE_FOREVER)
        SAY(n, "there is none");
    else if (is_free(n))
        SAY(n, "nothing is spent");
    else
        SAY(n, "%lld of %lld %s left", (long long)n->a->budget_left,
            (long long)n->a->budget_all,
            n->a->budget_all == 1 ? "retry" : "retries");
}

static bool made_again(const struct note *n)
{
    return n->a->reason == BIDE_BECAUSE_KNOCKING;
}

static void unreachable(struct note *n)
{
    if (made_again(n))
        SAY(n, "nobody was reached: calls wait for up to %s (unreachable.wait)",
            D(n->conf->unreachable.wait_ns));
    else
        SAY(n, "nothing says that nobody is there");
}

static void retries_off(struct note *n)
{
    SAY(n, "they are on");
}

static void (*const writers[BIDE_N_REASONS])(struct note *) = {
    [BIDE_BECAUSE_CANCELLED] = cancelled,
    [BIDE_BECAUSE_CLIENT_TIMEOUT] = client_timeout,
    [BIDE_BECAUSE_UPLOAD] = upload,
    [BIDE_BECAUSE_CONNECTION_WAIT] = connection_wait,
    [BIDE_BECAUSE_PERMANENT] = permanent,
    [BIDE_BECAUSE_SERVER_REFUSED] = server_refused,
    [BIDE_BECAUSE_NOT_IDEMPOTENT] = not_idempotent,
    [BIDE_BECAUSE_NOT_REPLAYABLE] = not_replayable,
    [BIDE_BECAUSE_ATTEMPTS] = attempts,
    [BIDE_BECAUSE_UPSTREAM_RETRIES] = upstream_retries,
    [BIDE_BECAUSE_RETRIES_OFF] = retries_off,
    [BIDE_BECAUSE_NO_HINT] = no_hint,
    [BIDE_BECAUSE_HINT_TOO_LONG] = hint_too_long,
    [BIDE_BECAUSE_DEADLINE] = deadline,
    [BIDE_BECAUSE_BREAKER_OPEN] = breaker_open,
    [BIDE_BECAUSE_BUDGET] = budget,
    [BIDE_BECAUSE_UNREACHABLE] = unreachable,
};

const char *explain_fact(const struct situation *s, const struct answer *a,
                         bide_reason rule, char *buffer, size_t size)
{
    struct note n = { s, a, &s->policy.conf, a->reason == rule, buffer, size };

    if (writers[rule])
        writers[rule](&n);
    else
        snprintf(buffer, size, "%s", bide_reason_text(rule));
    return buffer;
}

/* The engine's order: BIDE_REASONS from `cancelled` to `unreachable`. The first that
 * applies decides, so those before it did not apply, and those after it were
 * not checked. Any other reason arose when the attempt was to begin. */
void explain_rules(const struct situation *s, const struct answer *a,
                   void (*each)(void *ctx, const char *rule, bool applies,
                                const char *fact),
                   void *ctx)
{
    char fact[200];
    bool stopped = explain_stops(a);

    if (a->reason == BIDE_BECAUSE_SUCCESS)
        return;
    for (int r = BIDE_BECAUSE_CANCELLED;
         a->judged && r <= BIDE_BECAUSE_UNREACHABLE; r++) {
        bide_reason rule = (bide_reason)r;
        bool applies = stopped && rule == a->reason;
        each(ctx, bide_reason_name(rule), applies,
             explain_fact(s, a, rule, fact, sizeof fact));
        if (applies)
            return;
    }
    if (stopped)
        each(ctx, bide_reason_name(a->reason), true,
             explain_fact(s, a, a->reason, fact, sizeof fact));
}
