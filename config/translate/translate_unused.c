/* translate_unused.c: options that a policy sets but does not use.
 *
 * `budget.capacity` has no effect unless `budget.kind` is quota. It has no
 * equivalent because it has no effect; reporting it as lost would be a false
 * alarm. */
#include <string.h>

#include "config/translate/translate.h"

bool bide__tries_again(const bide_policy_conf *conf)
{
    return conf->attempts > 1 || conf->hedge.max > 0;
}

static bool is_in(const char *key, const char *group)
{
    return strncmp(key, group, strlen(group)) == 0;
}

static bool is_any(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* What a list of delays replaces. */
static const char *const replaced[] = { "base", "factor", "cap", "shape",
                                        NULL };

static const char *backoff(const bide_policy_conf *c, const char *name)
{
    if (c->attempts == 1)
        return "attempts is 1, and hedges do not wait for it";
    if (strcmp(name, "spread") == 0 &&
        c->backoff.jitter != BIDE_JITTER_PROPORTIONAL)
        return "backoff.jitter is not proportional";
    if (c->backoff.delays.n != 0 && is_any(name, replaced))
        return "backoff.delays takes its place";
    if (strcmp(name, "factor") == 0 && c->backoff.shape == BIDE_SHAPE_LINEAR)
        return "backoff.shape is linear";
    return NULL;
}

/* Of the backoff after a kind of failure. */
static const char *backoff_part(const bide_policy_conf *c,
                                const bide_backoff_part *part, const char *name)
{
    if (c->attempts == 1)
        return "attempts is 1, and hedges do not wait for it";
    if (part->delays.n != 0 && is_any(name, replaced))
        return "the list of delays takes its place";
    return NULL;
}

static const char *budget(const bide_policy_conf *c, const char *name)
{
    static const char *const window[] = { "ratio", "window", "floor", "deposit",
                                          NULL };
    static const char *const quota[] = { "capacity",     "cost",
                                         "cost_timeout", "cost_throttled",
                                         "refund",       NULL };
    static const char *const throttle[] = { "max_tokens", "token_ratio", NULL };
    static const char *const in_flight[] = { "ratio", "min_in_flight", NULL };
    static const char *const none[] = { NULL };
    static const char *const *const of_kind[] = { none, window, quota, throttle,
                                                  in_flight };

    if (!bide__tries_again(c))
        return "attempts is 1: there is nothing to limit";
    if (strcmp(name, "per_call") == 0 && c->budget.kind == BIDE_BUDGET_OFF)
        return "budget.kind is off";
    if (strcmp(name, "kind") == 0 || strcmp(name, "per_call") == 0 ||
        is_any(name, of_kind[c->budget.kind]))
        return NULL;
    return "it belongs to another budget.kind";
}

static const char *breaker(const bide_policy_conf *c, const char *name)
{
    const bide_breaker_conf *b = &c->breaker;

    if (strcmp(name, "kind") == 0)
        return NULL;
    if (b->kind == BIDE_BREAKER_OFF)
        return "breaker.kind is off";
    if (strcmp(name, "mode") == 0)
        return NULL;
    if (b->mode == BIDE_BREAKER_FORCED_OPEN ||
        b->mode == BIDE_BREAKER_FORCED_CLOSED)
        return "breaker.mode holds it in one state";
    if (strcmp(name, "window") == 0 && b->kind == BIDE_BREAKER_COUNT)
        return "breaker.kind is count";
    if (strcmp(name, "window_calls") == 0 && b->kind == BIDE_BREAKER_TIME)
        return "breaker.kind is time";
    if (strcmp(name, "slow_rate") == 0 && b->slow_ns == BIDE_FOREVER)
        return "breaker.slow is none";
    return NULL;
}

static const char *hedge(const bide_policy_conf *c, const char *name)
{
    if (strcmp(name, "max") == 0)
        return NULL;
    if (c->hedge.max == 0)
        return "hedge.max is 0";
    if ((strcmp(name, "quantile") == 0 || strcmp(name, "min_samples") == 0) &&
        c->hedge.after_ns != BIDE_FOREVER)
        return "hedge.after is a fixed time";
    if ((strcmp(name, "extra_load") == 0 || strcmp(name, "window") == 0) &&
        c->hedge.extra_load >= c->hedge.max)
        return "hedge.extra_load is as much as hedge.max, and limits nothing";
    return NULL;
}

static const char *limits(const bide_policy_conf *c, const char *name)
{
    const bide_limit_conf *l = &c->limits;
    bool adapts = l->adaptive != BIDE_ADAPTIVE_OFF;
    bool capped = adapts || l->in_flight != BIDE_UNLIMITED;

    if ((strcmp(name, "burst") == 0 || strcmp(name, "rate_wait") == 0) &&
        !(l->rate > 0))
        return "limits.rate is 0";
    if ((strcmp(name, "adaptive_min") == 0 ||
         strcmp(name, "adaptive_max") == 0 ||
         strcmp(name, "adaptive_initial") == 0) &&
        !adapts)
        return "limits.adaptive is off";
    if ((strcmp(name, "queue") == 0 || strcmp(name, "shed") == 0 ||
         strcmp(name, "reserve") == 0) &&
        !capped)
        return "limits.in_flight is unlimited";
    if (strcmp(name, "queue_timeout") == 0 && (l->queue == 0 || !capped))
        return "nothing ever waits for a place in flight";
    if (is_in(name, "throttle_") && !l->adaptive_throttle)
        return "limits.adaptive_throttle is false";
    return NULL;
}

/* For a call's only attempt, the shorter limit counts. */
static const char *one_limit(const bide_policy_conf *c, const char *key)
{
    bool deadline_counts = c->deadline_ns <= c->attempt_timeout_ns;

    if (bide__tries_again(c))
        return NULL;
    if (strcmp(key, "deadline") == 0 && !deadline_counts)
        return "the only attempt ends before it";
    if (strcmp(key, "attempt_timeout") == 0 && deadline_counts)
        return "the call ends with its deadline";
    return NULL;
}

/* Single options, and those that only matter to bide itself. */
static const char *others(const bide_policy_conf *c, const char *key)
{
    if (strcmp(key, "nested") == 0 && !bide__tries_again(c))
        return "attempts is 1: there is nothing to leave to others";
    if (strcmp(key, "when_refused") == 0 && c->when_refused == BIDE_REFUSED_FAIL)
        return "it ends what is refused, as they do";
    if (is_in(key, "unreachable.") &&
        (c->unreachable.wait_ns == 0 || !bide__tries_again(c)))
        return "no call waits for connections to be accepted again";
    if (strcmp(key, "lanes") == 0)
        return "it is how bide counts, not what it decides";
    if (is_in(key, "latency.") &&
        (c->hedge.max == 0 || c->hedge.after_ns != BIDE_FOREVER))
        return "no decision of this policy looks at measured latency";
    if (strcmp(key, "attempt_min") == 0 && c->deadline_ns == BIDE_FOREVER)
        return "there is no deadline to fall short of";
    return NULL;
}

const char *bide__option_unused(const bide_policy_conf *c, const char *key)
{
    const char *name = strchr(key, '.');

    if (is_in(key, "backoff."))
        return backoff(c, name + 1);
    if (is_in(key, "backoff_throttled."))
        return backoff_part(c, &c->backoff_throttled, name + 1);
    if (is_in(key, "backoff_conflict."))
        return backoff_part(c, &c->backoff_conflict, name + 1);
    if (is_in(key, "backoff_timeout."))
        return backoff_part(c, &c->backoff_timeout, name + 1);
    if (is_in(key, "budget."))
        return budget(c, name + 1);
    if (is_in(key, "breaker."))
        return breaker(c, name + 1);
    if (is_in(key, "hedge."))
        return hedge(c, name + 1);
    if (is_in(key, "limits."))
        return limits(c, name + 1);
    if (is_in(key, "retry_after.") && !bide__tries_again(c))
        return "attempts is 1: no hint is waited for";
    if (strcmp(key, "retry_after.then") == 0 && c->attempts == 1)
        return "hedges have no computed wait";
    if (strcmp(key, "deadline") == 0 || strcmp(key, "attempt_timeout") == 0)
        return one_limit(c, key);
    return others(c, key);
}
