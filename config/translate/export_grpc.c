/* export_grpc.c: a policy as a gRPC service config (gRFC A6), in JSON.
 *
 * A method has a retryPolicy or a hedgingPolicy, never both, just like a policy
 * of bide. Clients treat maxAttempts over 5 as 5, draw each wait from 0.8 to
 * 1.2 times its value, and obey a server's pushback to the millisecond. Tokens
 * per server name limit retries. */
#include "config/translate/export_grpc.h"

#include <math.h>

#include "base/json.h"
#include "config/policy/retry_set.h"
#include "config/translate/mesh.h"
#include "config/translate/translate_value.h"

enum { MAX_ATTEMPTS = 5 };

/* ===== options without an equivalent ===== */

static void waits(struct bide__translation *t)
{
    static const char jitter[] =
        "a wait is always drawn from 0.8 to 1.2 times its value";
    const bide_backoff *b = &t->conf->backoff;

    bide__kept(t, "backoff.jitter");
    if (b->jitter != BIDE_JITTER_PROPORTIONAL)
        bide__approximated(t, "backoff.jitter", jitter,
                           "proportional, with a spread of 20 %%");
    if (fabs(b->spread - 0.2) > 1e-9)
        bide__approximated(t, "backoff.spread", jitter, "20 %%");
    if (b->floor_ns > 0)
        bide__lost(t, "backoff.floor", "there is no shortest wait");
    if (b->immediate_first)
        bide__approximated(t, "backoff.immediate_first",
                           "what never left the client is retried at once",
                           "transparent retries");
}

static void hints(struct bide__translation *t)
{
    const bide_retry_after_conf *r = &t->conf->retry_after;

    if (r->mode != BIDE_HINT_REPLACE)
        bide__lost(t, "retry_after.mode", "pushback replaces the wait");
    bide__kept(t, "retry_after.max");
    if (r->max_ns != BIDE_FOREVER)
        bide__lost(t, "retry_after.max", "pushback is obeyed, however long");
    bide__kept(t, "retry_after.jitter");
    if (r->jitter > 0)
        bide__lost(t, "retry_after.jitter",
                   "pushback is obeyed to the millisecond");
    bide__kept(t, "retry_after.then");
    if (r->then != BIDE_THEN_RESTART)
        bide__lost(t, "retry_after.then",
                   "after pushback the waits start again from initialBackoff");
    if (r->throttled_without_hint != BIDE_UNHINTED_BACKOFF)
        bide__lost(t, "retry_after.throttled_without_hint",
                   "RESOURCE_EXHAUSTED is retried without pushback too");
}

static void refusals(struct bide__translation *t)
{
    const bide_policy_conf *c = t->conf;

    bide__kept(t, "attempt_timeout");
    if (c->attempt_timeout_ns != BIDE_FOREVER && bide__tries_again(c))
        bide__lost(t, "attempt_timeout", "only the whole call has a timeout");
    bide__kept(t, "nested");
    if (c->nested == BIDE_NESTED_PASS)
        bide__lost(t, "nested",
                   "it does not see that a layer above retries too");
    bide__kept(t, "breaker.kind");
    if (c->breaker.kind != BIDE_BREAKER_OFF)
        bide__lost(t, "breaker.kind", "a service config has no breaker");
    if (c->hedge.extra_load < c->hedge.max) {
        static const char why[] = "only retryThrottling limits hedges";

        bide__lost(t, "hedge.extra_load", why);
        bide__lost(t, "hedge.window", why);
    }
}

/* HTTP is below gRPC: its statuses become gRPC codes before retries are
 * considered. */
static void transport(struct bide__translation *t,
                      const struct bide__retry_set *set)
{
    static const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;
    static const char why[] = "only gRPC status codes are listed; a failed "
                              "connection is UNAVAILABLE";
    struct bide__retry_set usual;
    bool differs = false;

    bide__retry_set_of(&usual, &defaults, NULL);
    for (size_t i = 0; i < sizeof set->status / sizeof set->status[0]; i++)
        differs = differs || set->status[i] != usual.status[i];
    if (differs)
        bide__lost_other(t, "retry_on.status", bide__status_text(t->arena, set),
                         why, NULL);
    if (set->faults != usual.faults)
        bide__lost_other(t, "retry_on.errors",
                         bide__fault_text(t->arena, set->faults), why, NULL);
}

/* ===== methodConfig ===== */

static void codes(struct bide__json *j, const char *key, uint32_t set)
{
    bide__json_list(j, key);
    for (int c = 0; c < BIDE_N_GRPC; c++)
        if (set >> c & 1)
            bide__json_text(j, NULL, bide_grpc_name(c));
    bide__json_end(j);
}

/* A backoff of 0 is not allowed. */
static void backoff(struct bide__translation *t, struct bide__json *j,
                    const char *option, const char *key, int64_t ns)
{
    bide__kept(t, option);
    if (ns == 0) {
        ns = BIDE_MILLISECOND;
        bide__approximated(t, option, "a backoff must be over 0", "1ms");
    }
    bide__put_proto_duration(j, key, ns);
}

static bool retry_policy(struct bide__translation *t, struct bide__json *j,
                         const struct bide__retry_set *set)
{
    const bide_policy_conf *c = t->conf;
    uint32_t attempts = c->attempts < MAX_ATTEMPTS ? c->attempts : MAX_ATTEMPTS;

    bide__kept(t, "attempts");
    if (attempts < c->attempts)
        bide__approximated(t, "attempts", "clients treat more than 5 as 5",
                           "maxAttempts %d", MAX_ATTEMPTS);
    if (set->grpc == 0) {
        bide__lost(t, "attempts",
                   "no gRPC status is retried, and "
                   "retryableStatusCodes must not be empty");
        return false;
    }
    bide__json_object(j, "retryPolicy");
    bide__json_integer(j, "maxAttempts", attempts);
    backoff(t, j, "backoff.base", "initialBackoff", c->backoff.base_ns);
    backoff(t, j, "backoff.cap", "maxBackoff", c->backoff.cap_ns);
    bide__kept(t, "backoff.factor");
    bide__json_number(j, "backoffMultiplier", c->backoff.factor);
    codes(j, "retryableStatusCodes", set->grpc);
    bide__json_end(j);
    return true;
}

/* A delay that is only known at run time cannot be written, and without a delay
 * every attempt would be sent at once. */
static bool hedging_policy(struct bide__translation *t, struct bide__json *j,
                           const struct bide__retry_set *set)
{
    const bide_hedge_conf *h = &t->conf->hedge;

    if (h->after_ns == BIDE_FOREVER) {
        static const char why[] =
            "hedges go out after a fixed delay; set hedge.after to one";

        bide__lost(t, "hedge.max", why);
        bide__lost(t, "hedge.after", why);
        bide__lost(t, "hedge.quantile", why);
        return false;
    }
    bide__kept(t, "attempts");
    bide__kept(t, "hedge.max");
    bide__kept(t, "hedge.after");
    bide__json_object(j, "hedgingPolicy");
    bide__json_integer(j, "maxAttempts", 1 + (int64_t)h->max);
    bide__put_proto_duration(j, "hedgingDelay", h->after_ns);
    codes(j, "nonFatalStatusCodes", set->grpc);
    bide__json_end(j);
    return true;
}

static void method_name(const struct bide__export_names *names,
                        struct bide__json *j)
{
    bide__json_list(j, "name");
    bide__json_object(j, NULL);
    if (names->service)
        bide__json_text(j, "service", names->service);
    if (names->service && names->method)
        bide__json_text(j, "method", names->method);
    bide__json_end(j);
    bide__json_end(j);
}

/* Returns whether it will retry or hedge. */
static bool method_config(struct bide__translation *t,
                          const struct bide__export_names *names,
                          const struct bide__retry_set *set,
                          struct bide__json *j)
{
    int64_t timeout_ns = bide__call_timeout(t);
    bool repeats = false;

    bide__json_list(j, "methodConfig");
    bide__json_object(j, NULL);
    method_name(names, j);
    if (timeout_ns != BIDE_FOREVER)
        bide__put_proto_duration(j, "timeout", timeout_ns);
    bide__kept(t, "attempts");
    if (t->conf->hedge.max > 0)
        repeats = hedging_policy(t, j, set);
    else if (t->conf->attempts > 1)
        repeats = retry_policy(t, j, set);
    bide__json_end(j);
    bide__json_end(j);
    return repeats;
}

void bide__export_grpc(struct bide__translation *t,
                       const struct bide__export_names *names, FILE *out)
{
    struct bide__retry_set set;
    struct bide__json j;
    bool repeats;

    bide__retry_set_of(&set, t->conf, t);
    transport(t, &set);
    waits(t);
    hints(t);
    refusals(t);
    bide__json_init(&j, out, true);
    bide__json_object(&j, NULL);
    repeats = method_config(t, names, &set, &j);
    bide__grpc_tokens(t, &j, repeats);
    bide__json_end(&j);
    bide__json_done(&j);
    if (repeats)
        bide__caveat(t, "gRPC repeats any call; bide only those that are "
                        "idempotent, or carry a key");
}
