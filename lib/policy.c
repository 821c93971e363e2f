/* Validating a policy, and computing what the engine needs from it.
 *
 * Each field is checked by its row of the options; then come the few rules that
 * involve two fields, each charged to the field a user would change. */
#include "lib/policy.h"

#include <stddef.h>
#include <string.h>

#include "bide/error.h"
#include "lib/budget/spend.h"
#include "lib/window.h"

/* ===== one field ===== */

static bool within(const bide_option *o, double x)
{
    /* written so that NaN is outside */
    return (o->above_min ? x > o->min : x >= o->min) && x <= o->max;
}

static bool choice_exists(const bide_option *o, int choice)
{
    for (int i = 0; o->choices[i]; i++)
        if (i == choice)
            return true;
    return false;
}

static bool valid(const bide_policy_conf *conf, const bide_option *o)
{
    const char *field = (const char *)conf + o->offset;
    int64_t ns;
    uint32_t count;
    double number;
    int choice;
    unsigned char flag;

    switch (o->type) {
    case BIDE_OPTION_DURATION:
        memcpy(&ns, field, sizeof ns);
        return (o->special && ns == o->special_value) || within(o, (double)ns);
    case BIDE_OPTION_COUNT:
        memcpy(&count, field, sizeof count);
        return (o->special && count == o->special_value) || within(o, count);
    case BIDE_OPTION_FLAG:
        memcpy(&flag, field, sizeof flag);
        return flag <= 1;
    case BIDE_OPTION_CHOICE:
        memcpy(&choice, field, sizeof choice);
        return choice_exists(o, choice);
    default:
        memcpy(&number, field, sizeof number);
        return within(o, number);
    }
}

/* ===== two fields ===== */

static bool is_power_of_2(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* The field that conflicts with another one, or NULL. */
static const char *contradiction(const bide_policy_conf *c)
{
    if (c->backoff.cap_ns < c->backoff.base_ns)
        return "backoff.cap";
    if (c->backoff.floor_ns > c->backoff.cap_ns)
        return "backoff.floor";
    if (c->backoff.throttled_base_ns > c->backoff.cap_ns)
        return "backoff.throttled_base";
    if (c->breaker.kind == BIDE_BREAKER_COUNT &&
        c->breaker.min_calls > c->breaker.window_calls)
        return "breaker.min_calls";
    if (c->breaker.open_max_ns < c->breaker.open_ns)
        return "breaker.open_max";
    if (c->hedge.max != 0 && c->attempts != 1)
        return "hedge.max";
    if (c->hedge.max != 0 && c->hedge.after_ns == BIDE_FOREVER &&
        !c->latency.measure)
        return "hedge.quantile";
    return is_power_of_2(c->lanes) ? NULL : "lanes";
}

static int error_of(const char *key)
{
    int n = 0;
    while (strcmp(bide__option_key(n), key) != 0)
        n++;
    return BIDE_EFIELD - n;
}

/* ===== rules ===== */

static bool text_fits(const char *text)
{
    if (!text)
        return true;
    for (size_t i = 0; i <= BIDE_MAX_RULE_TEXT; i++)
        if (text[i] == '\0')
            return i > 0;
    return false;
}

static bool rule_valid(const bide_rule *r)
{
    bool anything = r->status_max || r->faults || r->grpc || r->method ||
                    r->header || r->problem_type;
    return anything && r->status_min <= r->status_max &&
           (r->status_max == 0 || r->status_min >= 100) &&
           r->status_max <= 999 && r->faults >> BIDE_N_FAULTS == 0 &&
           r->grpc >> BIDE_N_GRPC == 0 && (r->header || !r->header_value) &&
           text_fits(r->method) && text_fits(r->header) &&
           text_fits(r->header_value) && text_fits(r->problem_type) &&
           (unsigned)r->cls < BIDE_N_CLASSES;
}

static bool rules_valid(const bide_policy_conf *conf)
{
    if (conf->n_rules > BIDE_MAX_RULES || (conf->n_rules && !conf->rules))
        return false;
    for (size_t i = 0; i < conf->n_rules; i++)
        if (!rule_valid(&conf->rules[i]))
            return false;
    return true;
}

/* A program compiled against an older header passes a shorter struct; the
 * fields it does not know have the values of INIT. */
static bool known_size(size_t size)
{
    return size >= offsetof(bide_policy_conf, n_rules) + sizeof(size_t) &&
           size <= sizeof(bide_policy_conf) &&
           size % _Alignof(bide_policy_conf) == 0;
}

static bide_policy_conf widened(const bide_policy_conf *conf)
{
    bide_policy_conf whole = BIDE_POLICY_CONF_INIT;
    memcpy(&whole, conf, conf->size);
    whole.size = sizeof whole;
    return whole;
}

static int check_all(const bide_policy_conf *conf)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);
    for (size_t i = 0; i < n; i++)
        if (!valid(conf, &options[i]))
            return BIDE_EFIELD - (int)i;
    const char *key = contradiction(conf);
    if (key)
        return error_of(key);
    return rules_valid(conf) ? 0 : BIDE_ERULE;
}

int bide_policy_check(const bide_policy_conf *conf)
{
    if (!conf)
        return BIDE_EINVAL;
    if (!known_size(conf->size))
        return BIDE_ESIZE;
    bide_policy_conf whole = widened(conf);
    return check_all(&whole);
}

/* ===== derived values ===== */

static struct bide__ticker window_ticks(int64_t window_ns)
{
    return bide__ticker(window_ns / BIDE__SLOTS);
}

static void init_tickers(struct bide__policy *p)
{
    const bide_policy_conf *c = &p->conf;
    p->deposit_ticks = window_ticks(c->budget.window_ns);
    p->spend_ticks = bide__ticker(bide__spend_tick_ns(c->budget.window_ns));
    p->breaker_ticks = window_ticks(c->breaker.window_ns);
    p->latency_ticks = bide__ticker(c->latency.window_ns / 2);
    p->throttle_ticks = window_ticks(c->limits.throttle_window_ns);
    p->hedge_ticks = window_ticks(BIDE__HEDGE_WINDOW_NS);
    p->hedge_spend_ticks =
        bide__ticker(bide__spend_tick_ns(BIDE__HEDGE_WINDOW_NS));
}

/* A breaker by time, a budget that deposits on success, and no limits. */
static bool is_plain(const bide_policy_conf *c)
{
    return c->breaker.kind == BIDE_BREAKER_TIME && c->breaker.consecutive == 0 &&
           c->budget.kind == BIDE_BUDGET_WINDOW &&
           c->budget.deposit == BIDE_DEPOSIT_SUCCESS && c->hedge.max == 0 &&
           c->limits.in_flight == BIDE_UNLIMITED && !c->limits.adaptive_rate &&
           !c->limits.adaptive_throttle;
}

/* At least one place is left for each rank. */
static void init_places(struct bide__policy *p)
{
    const bide_limit_conf *l = &p->conf.limits;
    uint32_t all = l->in_flight;
    uint32_t normal = all - (uint32_t)(l->reserve * all + 1e-6);
    double slack = (1 - l->shed) * normal;
    p->places[BIDE__RANK_HIGH] = all;
    p->places[BIDE__RANK_NORMAL] = normal;
    p->places[BIDE__RANK_LOW] = normal - (uint32_t)(slack / 2 + 1e-6);
    p->places[BIDE__RANK_RETRY] = normal - (uint32_t)(slack + 1e-6);
}

void bide__policy_init(struct bide__policy *p, const bide_policy_conf *conf)
{
    const bide_breaker_conf *b = &conf->breaker;
    p->conf = widened(conf);
    p->throttled = conf->backoff;
    if (conf->backoff.throttled_base_ns != BIDE_SAME)
        p->throttled.base_ns = conf->backoff.throttled_base_ns;
    init_tickers(p);

    p->budget_floor = bide__millionths(conf->budget.floor_per_s *
                                       (double)conf->budget.window_ns / 1e9);
    p->budget_ratio = bide__millionths(conf->budget.ratio);
    p->max_tokens = bide__millionths(conf->budget.max_tokens);
    p->token_ratio = bide__millionths(conf->budget.token_ratio);
    p->failure_rate = bide__millionths(b->failure_rate);
    p->slow_rate = bide__millionths(b->slow_rate);
    p->probe_rate = bide__millionths(b->probe_failure_rate);
    p->extra_load = bide__millionths(conf->hedge.extra_load);
    p->throttle_k = bide__millionths(conf->limits.throttle_k);
    p->probe_ns = conf->attempt_timeout_ns != BIDE_FOREVER
                      ? conf->attempt_timeout_ns
                      : b->open_max_ns;
    p->max_attempts = conf->attempts + conf->hedge.max;
    p->gated = conf->unreachable.wait_ns > 0 &&
               (conf->attempts > 1 || conf->hedge.max != 0);
    p->plain = is_plain(conf);
    init_places(p);
}
