/* idle.c: options that another option switches off.
 *
 * Policies are templates for each other: an option without effect in `default`
 * may matter in `search`. So an option is idle only if no policy that has it
 * from the same line uses it. */
#include <string.h>

#include "config/field/option_value.h"
#include "config/lint/lint.h"
#include "config/lint/outcome_lints.h"

/* Which options one depends on: key or the beginning of keys, what must hold,
 * and the words for it. */
static bool has_retries(const bide_policy_conf *c)
{
    return c->attempts > 1;
}

static bool has_hedges(const bide_policy_conf *c)
{
    return c->hedge.max > 0;
}

static bool has_either(const bide_policy_conf *c)
{
    return has_retries(c) || has_hedges(c);
}

static bool has_ceiling(const bide_policy_conf *c)
{
    return has_hedges(c) && c->hedge.extra_load < c->hedge.max;
}

static bool hedges_by_quantile(const bide_policy_conf *c)
{
    return c->hedge.max > 0 && c->hedge.after_ns == BIDE_FOREVER;
}

static bool has_breaker(const bide_policy_conf *c)
{
    return c->breaker.kind != BIDE_BREAKER_OFF;
}

static bool counts_time(const bide_policy_conf *c)
{
    return c->breaker.kind == BIDE_BREAKER_TIME;
}

static bool counts_calls(const bide_policy_conf *c)
{
    return c->breaker.kind == BIDE_BREAKER_COUNT;
}

static bool knows_slow(const bide_policy_conf *c)
{
    return has_breaker(c) && c->breaker.slow_ns != BIDE_FOREVER;
}

static bool has_window(const bide_policy_conf *c)
{
    return c->budget.kind == BIDE_BUDGET_WINDOW;
}

static bool has_ratio(const bide_policy_conf *c)
{
    return has_window(c) || c->budget.kind == BIDE_BUDGET_IN_FLIGHT;
}

static bool has_in_flight(const bide_policy_conf *c)
{
    return c->budget.kind == BIDE_BUDGET_IN_FLIGHT;
}

static bool has_quota(const bide_policy_conf *c)
{
    return c->budget.kind == BIDE_BUDGET_QUOTA;
}

static bool has_throttle(const bide_policy_conf *c)
{
    return c->budget.kind == BIDE_BUDGET_THROTTLE;
}

static bool is_proportional(const bide_policy_conf *c)
{
    return has_retries(c) && c->backoff.jitter == BIDE_JITTER_PROPORTIONAL;
}

static bool has_formula(const bide_policy_conf *c)
{
    return has_retries(c) && c->backoff.delays.n == 0;
}

static bool has_factor(const bide_policy_conf *c)
{
    return has_formula(c) && c->backoff.jitter != BIDE_JITTER_DECORRELATED &&
           c->backoff.shape == BIDE_SHAPE_EXPONENTIAL;
}

static bool adapts(const bide_policy_conf *c)
{
    return c->limits.adaptive != BIDE_ADAPTIVE_OFF;
}

static bool has_limit(const bide_policy_conf *c)
{
    return c->limits.in_flight != BIDE_UNLIMITED || adapts(c);
}

static bool has_rate(const bide_policy_conf *c)
{
    return c->limits.rate > 0;
}

static bool has_budget(const bide_policy_conf *c)
{
    return c->budget.kind != BIDE_BUDGET_OFF;
}

static bool has_queue(const bide_policy_conf *c)
{
    return has_limit(c) && c->limits.queue > 0;
}

static bool throttles(const bide_policy_conf *c)
{
    return c->limits.adaptive_throttle;
}

static bool measures(const bide_policy_conf *c)
{
    return c->latency.measure;
}

/* The first row that fits a key counts. */
/* clang-format off */
static const struct row {
    const char *key; /* with a dot at its end: all keys that begin like this */
    bool (*used)(const bide_policy_conf *conf);
    const char *needs;
} rows[] = {
    { "backoff.base", has_formula, "`attempts` over 1, and no `delays`" },
    { "backoff.cap", has_formula, "`attempts` over 1, and no `delays`" },
    { "backoff.shape", has_formula, "`attempts` over 1, and no `delays`" },
    { "backoff.spread", is_proportional, "`jitter: proportional`" },
    { "backoff.factor", has_factor,
      "`shape: exponential`, no `delays`, and another `jitter` than decorrelated" },
    { "backoff.", has_retries, "`attempts` over 1" },
    { "backoff_throttled.", has_retries, "`attempts` over 1" },
    { "backoff_conflict.", has_retries, "`attempts` over 1" },
    { "backoff_timeout.", has_retries, "`attempts` over 1" },
    { "retry_after.then", has_retries, "`attempts` over 1" },
    { "retry_after.", has_either, "`attempts` over 1, or hedges" },
    { "budget.ratio", has_ratio, "`kind: window` or `kind: in_flight`" },
    { "budget.window", has_window, "`kind: window`" },
    { "budget.floor", has_window, "`kind: window`" },
    { "budget.deposit", has_window, "`kind: window`" },
    { "budget.capacity", has_quota, "`kind: quota`" },
    { "budget.cost", has_quota, "`kind: quota`" },
    { "budget.cost_timeout", has_quota, "`kind: quota`" },
    { "budget.cost_throttled", has_quota, "`kind: quota`" },
    { "budget.refund", has_quota, "`kind: quota`" },
    { "budget.max_tokens", has_throttle, "`kind: throttle`" },
    { "budget.token_ratio", has_throttle, "`kind: throttle`" },
    { "budget.min_in_flight", has_in_flight, "`kind: in_flight`" },
    { "budget.per_call", has_budget, "another `kind` than off" },
    { "breaker.kind", NULL, NULL },
    { "breaker.mode", NULL, NULL },
    { "breaker.window", counts_time, "`kind: time`" },
    { "breaker.window_calls", counts_calls, "`kind: count`" },
    { "breaker.slow_rate", knows_slow, "a duration in `slow`" },
    { "breaker.", has_breaker, "`kind: time` or `kind: count`" },
    { "hedge.max", NULL, NULL },
    { "hedge.quantile", hedges_by_quantile, "`max` over 0 and `after: quantile`" },
    { "hedge.min_samples", hedges_by_quantile, "`max` over 0 and `after: quantile`" },
    { "hedge.window", has_ceiling, "`max` over 0 and an `extra_load` below it" },
    { "hedge.", has_hedges, "`max` over 0" },
    { "limits.queue_timeout", has_queue, "`queue` over 0" },
    { "limits.queue", has_limit, "a count in `in_flight`, or `adaptive`" },
    { "limits.shed", has_limit, "a count in `in_flight`, or `adaptive`" },
    { "limits.reserve", has_limit, "a count in `in_flight`, or `adaptive`" },
    { "limits.burst", has_rate, "`rate` over 0" },
    { "limits.rate_wait", has_rate, "`rate` over 0" },
    { "limits.adaptive_min", adapts, "`adaptive: aimd` or `gradient`" },
    { "limits.adaptive_max", adapts, "`adaptive: aimd` or `gradient`" },
    { "limits.adaptive_initial", adapts, "`adaptive: aimd` or `gradient`" },
    { "limits.throttle_k", throttles, "`adaptive_throttle: true`" },
    { "limits.throttle_window", throttles, "`adaptive_throttle: true`" },
    { "latency.window", measures, "`measure: true`" },
};
/* clang-format on */

static const struct row *row_of(const char *key)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n = strlen(rows[i].key);

        if (rows[i].key[n - 1] == '.' ? strncmp(key, rows[i].key, n) == 0
                                      : strcmp(key, rows[i].key) == 0)
            return &rows[i];
    }
    return NULL;
}

/* This search is not meant for a file of ten thousand policies that extend each
 * other; there it gives up, in favour of the policy. */
enum { MAX_SEARCHED = 2000 };

static bool is_used_anywhere(const struct bide__linting *l, size_t option,
                             const struct row *row)
{
    const struct bide__node *node = l->entry->set_by[option];

    if (l->config->n_entries > MAX_SEARCHED)
        return true;
    for (size_t i = 0; i < l->config->n_entries; i++) {
        const struct bide__policy_entry *e = &l->config->entries[i];

        if (e->set_by[option] == node && row->used(&e->conf))
            return true;
    }
    return false;
}

/* Whether the policy itself sets it, and to something other than the
 * default. */
static bool is_said(const struct bide__linting *l, const bide_option *o)
{
    static const bide_policy_conf init = BIDE_POLICY_CONF_INIT;
    const struct bide__policy_entry *e = l->entry;
    size_t i = bide__option_index(o);

    return e->set_by[i] &&
           !(e->parent && e->parent->set_by[i] == e->set_by[i]) &&
           !bide__option_same(&e->conf, &init, o);
}

void bide__lint_idle(const struct bide__linting *l)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++) {
        const struct row *row =
            is_said(l, &options[i]) ? row_of(options[i].key) : NULL;

        if (!row || !row->used || row->used(&l->entry->conf) ||
            is_used_anywhere(l, i, row))
            continue;
        bide__warn(l, l->entry->set_by[i], "L015",
                   bide__diag_text(l->notes, "leave it out, or give it %s",
                                   row->needs),
                   "`%s` does nothing here: it needs %s", options[i].key,
                   row->needs);
    }
}
