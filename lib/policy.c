/* Validating a policy, and computing what the engine needs from it.
 *
 * Each field is checked by its row of the options; then come the few rules that
 * involve two fields, each charged to the field a user would change. */
#include "lib/policy.h"

#include <stddef.h>
#include <string.h>

#include "bide/error.h"
#include "lib/budget/spend.h"
#include "lib/limit/pace.h"
#include "lib/wait/wait.h"
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

static bool delays_valid(const bide_delays *d)
{
    bool fits = d->n <= BIDE_MAX_DELAYS;
    for (uint32_t i = 0; fits && i < d->n; i++)
        fits = d->ns[i] >= 0;
    return fits;
}

/* The word's value, exactly: written so that no comparison is for equality. */
static bool is_special(const bide_option *o, double x)
{
    double value = (double)o->special_value;
    return o->special && x >= value && x <= value;
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
    case BIDE_OPTION_DELAYS:
        return delays_valid((const bide_delays *)(const void *)field);
    case BIDE_OPTION_FLAG:
        memcpy(&flag, field, sizeof flag);
        return flag <= 1;
    case BIDE_OPTION_CHOICE:
        memcpy(&choice, field, sizeof choice);
        return choice_exists(o, choice);
    default:
        memcpy(&number, field, sizeof number);
        return is_special(o, number) || within(o, number);
    }
}

/* ===== two fields ===== */

static bool is_power_of_2(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* Decorrelated jitter grows from its own last draw, whatever the value before
 * jitter: where that is the point, the two contradict each other. */
static const char *shape_contradiction(const bide_policy_conf *c)
{
    if (c->backoff.jitter != BIDE_JITTER_DECORRELATED)
        return NULL;
    if (c->backoff.shape != BIDE_SHAPE_EXPONENTIAL)
        return "backoff.shape";
    if (c->backoff.delays.n != 0)
        return "backoff.delays";
    if (c->backoff_throttled.delays.n != 0)
        return "backoff_throttled.delays";
    if (c->backoff_conflict.delays.n != 0)
        return "backoff_conflict.delays";
    if (c->backoff_timeout.delays.n != 0)
        return "backoff_timeout.delays";
    return c->wait ? "backoff.jitter" : NULL;
}

static const char *part_contradiction(const bide_policy_conf *c,
                                      const bide_backoff_part *part,
                                      const char *base, const char *cap)
{
    bide_backoff b = bide__backoff_with(&c->backoff, part);
    if (b.floor_ns <= b.cap_ns && b.base_ns <= b.cap_ns)
        return NULL;
    return part->cap_ns != BIDE_SAME ? cap : base;
}

static const char *backoff_contradiction(const bide_policy_conf *c)
{
    const char *key = shape_contradiction(c);
#define PART(name)                                                             \
    if (!key)                                                                  \
        key = part_contradiction(c, &c->name, #name ".base", #name ".cap");
    PART(backoff_throttled)
    PART(backoff_conflict)
    PART(backoff_timeout)
#undef PART
    return key;
}

/* The field that conflicts with another one, or NULL. */
static const char *contradiction(const bide_policy_conf *c)
{
    if (c->backoff.cap_ns < c->backoff.base_ns)
        return "backoff.cap";
    if (c->backoff.floor_ns > c->backoff.cap_ns)
        return "backoff.floor";
    const char *backoff = backoff_contradiction(c);
    if (backoff)
        return backoff;
    if (c->breaker.kind == BIDE_BREAKER_COUNT &&
        c->breaker.min_calls > c->breaker.window_calls)
        return "breaker.min_calls";
    if (c->limits.adaptive_min > c->limits.adaptive_max)
        return "limits.adaptive_min";
    if (c->limits.adaptive_initial < c->limits.adaptive_min ||
        c->limits.adaptive_initial > c->limits.adaptive_max)
        return "limits.adaptive_initial";
    if (c->hedge.max != 0 && c->attempts != 1)
        return "hedge.max";
    if (c->hedge.max != 0 && c->hedge.extra_load > c->hedge.max)
        return "hedge.extra_load";
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

void bide__policy_widen(bide_policy_conf *full, const bide_policy_conf *conf)
{
    *full = (bide_policy_conf)BIDE_POLICY_CONF_INIT;
    memcpy(full, conf, conf->size < sizeof *full ? conf->size : sizeof *full);
    full->size = sizeof *full;
}

int bide_policy_check(const bide_policy_conf *conf)
{
    if (!conf)
        return BIDE_EINVAL;
    if (!known_size(conf->size))
        return BIDE_ESIZE;
    bide_policy_conf full;
    bide__policy_widen(&full, conf);
    size_t n;
    const bide_option *options = bide_policy_options(&n);
    for (size_t i = 0; i < n; i++)
        if (!valid(&full, &options[i]))
            return BIDE_EFIELD - (int)i;
    const char *key = contradiction(&full);
    if (key)
        return error_of(key);
    return rules_valid(&full) ? 0 : BIDE_ERULE;
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
    p->hedge_ticks = window_ticks(c->hedge.window_ns);
    p->hedge_spend_ticks =
        bide__ticker(bide__spend_tick_ns(c->hedge.window_ns));
}

/* A breaker by time, a budget that deposits on success, and no limits. */
static bool is_plain(const bide_policy_conf *c)
{
    return c->breaker.kind == BIDE_BREAKER_TIME && c->breaker.consecutive == 0 &&
           c->budget.kind == BIDE_BUDGET_WINDOW &&
           c->budget.deposit == BIDE_DEPOSIT_SUCCESS && c->hedge.max == 0 &&
           c->limits.in_flight == BIDE_UNLIMITED &&
           c->limits.adaptive == BIDE_ADAPTIVE_OFF && !(c->limits.rate > 0) &&
           !c->limits.adaptive_rate && !c->limits.adaptive_throttle;
}

/* At least one place is left for each rank. */
uint32_t bide__policy_places(const bide_limit_conf *l, uint32_t all,
                             enum bide__rank rank)
{
    uint32_t normal = all - (uint32_t)(l->reserve * all + 1e-6);
    double slack = (1 - l->shed) * normal;
    switch (rank) {
    case BIDE__RANK_HIGH:
        return all;
    case BIDE__RANK_LOW:
        return normal - (uint32_t)(slack / 2 + 1e-6);
    case BIDE__RANK_RETRY:
        return normal - (uint32_t)(slack + 1e-6);
    default:
        return normal;
    }
}

void bide__policy_init(struct bide__policy *p, const bide_policy_conf *conf)
{
    const bide_breaker_conf *b = &conf->breaker;
    bide__policy_widen(&p->conf, conf);
    init_tickers(p);

    p->budget_floor = bide__millionths(conf->budget.floor_per_s *
                                       (double)conf->budget.window_ns / 1e9);
    p->budget_ratio = bide__millionths(conf->budget.ratio);
    p->per_call = bide__millionths(conf->budget.per_call);
    p->max_tokens = bide__millionths(conf->budget.max_tokens);
    p->token_ratio = bide__millionths(conf->budget.token_ratio);
    p->failure_rate = bide__millionths(b->failure_rate);
    p->slow_rate = bide__millionths(b->slow_rate);
    p->probe_rate = bide__millionths(b->probe_failure_rate);
    p->extra_load = bide__millionths(conf->hedge.extra_load);
    if (conf->hedge.max != 0 && conf->hedge.extra_load >= conf->hedge.max)
        p->extra_load = BIDE_FOREVER;
    p->throttle_k = bide__millionths(conf->limits.throttle_k);
    p->probe_ns = conf->attempt_timeout_ns != BIDE_FOREVER
                      ? conf->attempt_timeout_ns
                      : b->open_max_ns;
    p->max_attempts = conf->attempts + conf->hedge.max;
    p->gated = conf->unreachable.wait_ns > 0 &&
               (conf->attempts > 1 || conf->hedge.max != 0);
    p->plain = is_plain(conf);
    p->capped = conf->limits.in_flight != BIDE_UNLIMITED ||
                conf->limits.adaptive != BIDE_ADAPTIVE_OFF;
    for (int rank = 0; rank < BIDE__N_RANKS; rank++)
        p->places[rank] = bide__policy_places(
            &conf->limits, conf->limits.in_flight, (enum bide__rank)rank);
    p->pace_ns = bide__pace_interval(conf->limits.rate);
    p->pace_burst_ns = bide__times_ns(p->pace_ns, conf->limits.burst - 1);
}
