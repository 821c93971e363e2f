/* Taking the state of a dependency over; include/bide/state.h says what that
 * is. The parts set themselves: each knows the layout of its own words. */
#include "bide/state.h"

#include <math.h>

#include "bide/error.h"
#include "lib/dep.h"
#include "lib/state/state.h"

static bool known_size(size_t size)
{
    return size == sizeof(bide_dep_state);
}

/* ===== reading ===== */

static void get_budget(const bide_dep *dep, int64_t now, bide_dep_state *ret)
{
    const struct bide__policy *p = &dep->policy;
    uint64_t deposits = 0;
    if (p->conf.budget.kind == BIDE_BUDGET_WINDOW)
        deposits = bide__lanes_sum(dep->lanes, p->conf.lanes,
                                   offsetof(struct bide__lane, deposits),
                                   bide__tick(p->deposit_ticks, now), 0);
    ret->budget_spent = bide__budget_spent(&dep->budget, p, dep->lanes, now);
    ret->deposits_per_s =
        (double)deposits * 1e9 / (double)p->conf.budget.window_ns;
}

static void get_breaker(const bide_dep *dep, int64_t now, bide_dep_state *ret)
{
    bide_breaker_view view;
    const struct bide__breaker *b = &dep->breaker;
    if (dep->policy.conf.breaker.kind == BIDE_BREAKER_OFF)
        return;
    bide__breaker_view(b, &dep->policy, dep->lanes, now, &view);
    ret->mode = view.mode;
    ret->breaker = bide__breaker_normal_state(b, now);
    ret->open_until_ns = ret->breaker == BIDE_BREAKER_OPEN
                             ? bide__breaker_open_until(b)
                             : 0;
    ret->reopenings =
        atomic_load_explicit(&b->reopenings, memory_order_relaxed);
    if (ret->breaker != BIDE_BREAKER_CLOSED)
        return;
    ret->attempts = view.attempts;
    ret->failed = view.failed;
    ret->slow = view.slow;
    ret->failed_in_a_row = bide__breaker_in_a_row(b);
}

static void get_limits(const bide_dep *dep, int64_t now, bide_dep_state *ret)
{
    const struct bide__policy *p = &dep->policy;
    uint64_t tick = bide__tick(p->throttle_ticks, now);
    if (p->conf.limits.adaptive_rate)
        ret->rate = bide__rate_allowed(&dep->rate, now);
    if (!p->conf.limits.adaptive_throttle)
        return;
#define SUM(member)                                                            \
    bide__lanes_sum(dep->lanes, p->conf.lanes,                                 \
                    offsetof(struct bide__lane, member), tick, 0)
    ret->throttle_requests = SUM(requests);
    ret->throttle_accepts = SUM(accepts);
#undef SUM
}

int bide_dep_state_get(const bide_dep *dep, int64_t now_ns, bide_dep_state *ret)
{
    if (!dep || !ret || !known_size(ret->size))
        return BIDE_EINVAL;
    int64_t now = bide__clock(now_ns);
    bide_dep_state state = BIDE_DEP_STATE_INIT;
    get_budget(dep, now, &state);
    get_breaker(dep, now, &state);
    get_limits(dep, now, &state);
    *ret = state;
    return 0;
}

/* ===== setting ===== */

/* What a slot of a window holds without being full. */
#define MOST (BIDE__COUNT_MAX / 2)

/* Written so that NaN is invalid. */
static bool valid(const bide_dep_state *s)
{
    return known_size(s->size) && s->budget_spent >= 0 &&
           s->deposits_per_s >= 0 &&
           (unsigned)s->breaker <= BIDE_BREAKER_HALF_OPEN &&
           (unsigned)s->mode <= BIDE_BREAKER_DRY_RUN &&
           s->open_until_ns >= 0 && s->attempts <= MOST &&
           s->failed <= s->attempts && s->slow <= s->attempts && s->rate > 0 &&
           s->throttle_requests <= MOST &&
           s->throttle_accepts <= s->throttle_requests;
}

static void set_budget(bide_dep *dep, const bide_dep_state *s, int64_t now)
{
    const struct bide__policy *p = &dep->policy;
    double deposits = s->deposits_per_s * (double)p->conf.budget.window_ns / 1e9;
    if (deposits > (double)MOST)
        deposits = (double)MOST;
    bide__window_start(&dep->lanes->deposits,
                       bide__tick(p->deposit_ticks, now), 0,
                       (uint64_t)(deposits + 0.5));
    bide__budget_start(&dep->budget, p, dep->lanes, s->budget_spent, now);
}

static void set_limits(bide_dep *dep, const bide_dep_state *s, int64_t now)
{
    const struct bide__policy *p = &dep->policy;
    uint64_t tick = bide__tick(p->throttle_ticks, now);
    if (p->conf.limits.adaptive_rate && !isinf(s->rate))
        bide__rate_start(&dep->rate, s->rate, now);
    bide__window_start(&dep->lanes->requests, tick, 0, s->throttle_requests);
    bide__window_start(&dep->lanes->accepts, tick, 0, s->throttle_accepts);
}

int bide_dep_state_set(bide_dep *dep, const bide_dep_state *state,
                       int64_t now_ns)
{
    if (!dep || !state || !valid(state))
        return BIDE_EINVAL;
    int64_t now = bide__clock(now_ns);
    struct bide__breaker_env env = { &dep->breaker, &dep->policy, dep->lanes,
                                     dep->lanes, &dep->rng };
    set_budget(dep, state, now);
    if (dep->policy.conf.breaker.kind != BIDE_BREAKER_OFF)
        bide__breaker_start(&env, state, now);
    set_limits(dep, state, now);
    return 0;
}

/* A mode that somebody forced at run time outlives a change of the policy. */
static bide_breaker_mode mode_to_keep(bide_breaker_mode now,
                                      const bide_breaker_conf *old,
                                      const bide_dep *dep)
{
    return now != old->mode ? now : dep->policy.conf.breaker.mode;
}

int bide_dep_inherit(bide_dep *dep, const bide_dep *old, int64_t now_ns)
{
    bide_dep_state state = BIDE_DEP_STATE_INIT;
    if (!dep || bide_dep_state_get(old, now_ns, &state) < 0)
        return BIDE_EINVAL;
    state.mode = mode_to_keep(state.mode, &old->policy.conf.breaker, dep);
    bide_dep_set_retries(dep, bide_dep_retries(old));
    return bide_dep_state_set(dep, &state, now_ns);
}

/* ===== a shared state that was made for another policy ===== */

struct bide__made_for bide__made_for(const bide_policy_conf *conf)
{
    return (struct bide__made_for){ conf->budget, conf->breaker };
}

/* The last time at which it is known to have been used: nobody says what time it
 * is now. What was spent last was spent then or before, and a breaker that is
 * open opened before then. */
static int64_t last_used(const bide_dep *dep)
{
    uint64_t tick = atomic_load(&dep->budget.spend.expired_to);
    int64_t length = bide__spend_tick_ns(dep->policy.conf.budget.window_ns);
    int64_t spent =
        tick < (uint64_t)(INT64_MAX / length) ? (int64_t)tick * length : 0;
    int64_t opened = bide__breaker_open_until(&dep->breaker) -
                     bide__breaker_longest(&dep->policy);
    return opened > spent ? opened : spent;
}

bide_dep_state bide__state_of_other(bide_dep *dep,
                                    const struct bide__made_for *other,
                                    int64_t *ret_at_ns)
{
    const struct bide__policy own = dep->policy;
    bide_policy_conf conf = own.conf;
    bide_dep_state state = BIDE_DEP_STATE_INIT;

    conf.budget = other->budget;
    conf.breaker = other->breaker;
    bide__policy_init(&dep->policy, &conf);
    *ret_at_ns = last_used(dep);
    get_budget(dep, *ret_at_ns, &state);
    get_breaker(dep, *ret_at_ns, &state);
    dep->policy = own;
    state.mode = mode_to_keep(state.mode, &other->breaker, dep);
    state.attempts = state.failed = state.slow = 0; /* since when, is unknown */
    return state;
}
