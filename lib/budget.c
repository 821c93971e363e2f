/* Retry budgets: window, quota, throttle, in_flight. */
#include "budget.h"

#include <stddef.h>

void bide__budget_init(struct bide__budget *b, const struct bide__policy *p)
{
    int64_t level = 0;
    if (p->conf.budget.kind == BIDE_BUDGET_QUOTA)
        level = p->conf.budget.capacity;
    else if (p->conf.budget.kind == BIDE_BUDGET_THROTTLE)
        level = p->max_tokens;
    atomic_init(&b->level, level);
}

void bide__budget_reclaim(struct bide__budget *b, const struct bide__policy *p)
{
    bide__spend_recount(&b->spend);
    atomic_store(&b->calls, 0);
    if (p->conf.budget.kind == BIDE_BUDGET_IN_FLIGHT)
        atomic_store(&b->level, 0);
}

/* Moves the level by `change`, to `most` at the most; false, and no move, unless
 * it is in [at_least, most) now. */
static bool move_level(struct bide__budget *b, int64_t change, int64_t at_least,
                       int64_t most)
{
    int64_t level = atomic_load_explicit(&b->level, memory_order_acquire);
    int64_t want;
    do {
        if (level < at_least || level >= most)
            return false;
        want = level + change < most ? level + change : most;
    } while (!atomic_compare_exchange_weak_explicit(&b->level, &level, want,
                                                    memory_order_acq_rel,
                                                    memory_order_acquire));
    return true;
}

/* ===== window: a share of what was deposited ===== */

static int64_t window_limit(const struct bide__policy *p,
                            const struct bide__lane *lanes, int64_t now)
{
    uint64_t tick = bide__tick(p->deposit_ticks, now);
    uint64_t deposits = bide__lanes_sum(lanes, p->conf.lanes,
                                        offsetof(struct bide__lane, deposits),
                                        tick, 0);
    return (p->budget_floor + p->budget_ratio * (int64_t)deposits) /
           BIDE__MILLION;
}

static bool window_take(struct bide__budget *b, const struct bide__policy *p,
                        const struct bide__lane *lanes, int64_t now,
                        struct bide__ticket *ret)
{
    return bide__spend_take(&b->spend, bide__tick(p->spend_ticks, now),
                            window_limit(p, lanes, now), &ret->tick);
}

/* ===== quota: a bucket of tokens that successes fill up again ===== */

static uint32_t quota_cost(const bide_budget_conf *conf, bide_class failed,
                           bool timed_out)
{
    if (failed == BIDE_THROTTLED)
        return conf->cost_throttled;
    return timed_out ? conf->cost_timeout : conf->cost;
}

static bool quota_take(struct bide__budget *b, const struct bide__policy *p,
                       bide_class failed, bool timed_out,
                       struct bide__ticket *ret)
{
    ret->tokens = quota_cost(&p->conf.budget, failed, timed_out);
    return move_level(b, -(int64_t)ret->tokens, ret->tokens, BIDE_FOREVER);
}

static void quota_refund(struct bide__budget *b, const struct bide__policy *p,
                         int64_t tokens)
{
    move_level(b, tokens, 0, p->conf.budget.capacity);
}

/* ===== throttle: tokens that each failure takes and each success gives ===== */

static void throttle_report(struct bide__budget *b,
                            const struct bide__policy *p, bool success)
{
    if (success) {
        move_level(b, p->token_ratio, 0, p->max_tokens);
        return;
    }
    int64_t level = atomic_load_explicit(&b->level, memory_order_relaxed);
    int64_t want;
    do {
        want = level > BIDE__MILLION ? level - BIDE__MILLION : 0;
    } while (!atomic_compare_exchange_weak_explicit(&b->level, &level, want,
                                                    memory_order_acq_rel,
                                                    memory_order_relaxed));
}

static bool throttle_allows(const struct bide__budget *b,
                            const struct bide__policy *p)
{
    return atomic_load_explicit(&b->level, memory_order_acquire) >
           p->max_tokens / 2;
}

/* ===== in_flight: a share of the calls there are ===== */

static int64_t in_flight_limit(const struct bide__budget *b,
                               const struct bide__policy *p)
{
    int64_t calls = atomic_load_explicit(&b->calls, memory_order_acquire);
    int64_t share = p->budget_ratio * calls / BIDE__MILLION;
    int64_t least = p->conf.budget.min_in_flight;
    return share > least ? share : least;
}

/* ===== the four verbs ===== */

bool bide__budget_take(struct bide__budget *b, const struct bide__policy *p,
                       const struct bide__lane *lanes, bide_class failed,
                       bool timed_out, int64_t now, struct bide__ticket *ret)
{
    switch (p->conf.budget.kind) {
    case BIDE_BUDGET_OFF:
        break;
    case BIDE_BUDGET_WINDOW:
        return window_take(b, p, lanes, now, ret);
    case BIDE_BUDGET_QUOTA:
        return quota_take(b, p, failed, timed_out, ret);
    case BIDE_BUDGET_THROTTLE:
        return throttle_allows(b, p);
    case BIDE_BUDGET_IN_FLIGHT:
        return move_level(b, 1, 0, in_flight_limit(b, p));
    }
    return true;
}

void bide__budget_give_back(struct bide__budget *b,
                            const struct bide__policy *p,
                            const struct bide__ticket *ticket)
{
    if (p->conf.budget.kind == BIDE_BUDGET_WINDOW)
        bide__spend_give(&b->spend, ticket->tick);
    else
        bide__budget_settle(b, p, ticket, true);
}

void bide__budget_settle(struct bide__budget *b, const struct bide__policy *p,
                         const struct bide__ticket *ticket, bool success)
{
    if (p->conf.budget.kind == BIDE_BUDGET_QUOTA && success)
        quota_refund(b, p, ticket->tokens);
    else if (p->conf.budget.kind == BIDE_BUDGET_IN_FLIGHT)
        atomic_fetch_sub_explicit(&b->level, 1, memory_order_acq_rel);
}

void bide__budget_report(struct bide__budget *b, const struct bide__policy *p,
                         bide_class cls, bool refused, bool first)
{
    bool success = cls == BIDE_SUCCESS;
    if (p->conf.budget.kind == BIDE_BUDGET_QUOTA) {
        if (first && success)
            quota_refund(b, p, p->conf.budget.refund);
    } else if (p->conf.budget.kind == BIDE_BUDGET_THROTTLE) {
        if (success || cls == BIDE_TRANSIENT || cls == BIDE_THROTTLED ||
            cls == BIDE_OVERLOADED || refused)
            throttle_report(b, p, success);
    }
}

static int64_t quota_left(const struct bide__policy *p, int64_t tokens)
{
    uint32_t cost = p->conf.budget.cost;
    return cost == 0 ? BIDE_FOREVER : tokens / cost;
}

int64_t bide__budget_left(const struct bide__budget *b,
                          const struct bide__policy *p,
                          const struct bide__lane *lanes, int64_t now)
{
    int64_t level = atomic_load_explicit(&b->level, memory_order_acquire);
    int64_t left = BIDE_FOREVER;

    switch (p->conf.budget.kind) {
    case BIDE_BUDGET_OFF:
        break;
    case BIDE_BUDGET_WINDOW:
        left = window_limit(p, lanes, now) -
               bide__spend_outstanding(&b->spend,
                                       bide__tick(p->spend_ticks, now));
        break;
    case BIDE_BUDGET_QUOTA:
        left = quota_left(p, level);
        break;
    case BIDE_BUDGET_THROTTLE:
        /* each retry follows a failure that takes a token first */
        left = (level - p->max_tokens / 2 - 1) / BIDE__MILLION;
        break;
    case BIDE_BUDGET_IN_FLIGHT:
        left = in_flight_limit(b, p) - level;
        break;
    }
    return left > 0 ? left : 0;
}
