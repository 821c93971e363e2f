/* The quota: a bucket of tokens that successes refill, as in the AWS SDKs. The
 * cost of a retry depends on what failed. */
#include <stddef.h>

#include "lib/budget/budget.h"

static uint32_t cost(const bide_budget_conf *conf,
                     const struct bide__failure *after)
{
    if (after->cls == BIDE_THROTTLED)
        return conf->cost_throttled;
    return after->timed_out ? conf->cost_timeout : conf->cost;
}

static void refund(struct bide__budget *b, const struct bide__policy *p,
                   int64_t tokens)
{
    bide__budget_move(b, tokens, 0, p->conf.budget.capacity);
}

static void init(struct bide__budget *b, const struct bide__policy *p)
{
    atomic_init(&b->level, p->conf.budget.capacity);
}

static bool take(struct bide__budget *b, const struct bide__policy *p,
                 const struct bide__lane *lanes,
                 const struct bide__failure *after, int64_t now,
                 struct bide__ticket *ret)
{
    (void)lanes;
    (void)now;
    ret->tokens = cost(&p->conf.budget, after);
    return bide__budget_move(b, -(int64_t)ret->tokens, ret->tokens,
                             BIDE_FOREVER);
}

static int64_t grants(const struct bide__budget *b,
                      const struct bide__policy *p,
                      const struct bide__lane *lanes, int64_t now)
{
    (void)b;
    (void)lanes;
    (void)now;
    return p->conf.budget.capacity;
}

static void give_back(struct bide__budget *b, const struct bide__policy *p,
                      const struct bide__ticket *ticket)
{
    refund(b, p, ticket->tokens);
}

static void settle(struct bide__budget *b, const struct bide__policy *p,
                   const struct bide__ticket *ticket, bool success)
{
    if (success)
        refund(b, p, ticket->tokens);
}

static void report(struct bide__budget *b, const struct bide__policy *p,
                   struct bide__lane *lane, const struct bide__budget_end *end,
                   int64_t now)
{
    (void)lane;
    (void)now;
    if (end->first && end->cls == BIDE_SUCCESS)
        refund(b, p, p->conf.budget.refund);
}

static int64_t left(const struct bide__budget *b, const struct bide__policy *p,
                    const struct bide__lane *lanes, int64_t now)
{
    int64_t tokens = atomic_load_explicit(&b->level, memory_order_acquire);
    uint32_t each = p->conf.budget.cost;
    (void)lanes;
    (void)now;
    return each == 0 ? BIDE_FOREVER : tokens / each;
}

static struct bide__budget_use use(const struct bide__budget *b,
                                   const struct bide__policy *p,
                                   const struct bide__lane *lanes, int64_t now)
{
    int64_t all = p->conf.budget.capacity;
    (void)lanes;
    (void)now;
    return (struct bide__budget_use){
        all - atomic_load_explicit(&b->level, memory_order_acquire), all
    };
}

static void start(struct bide__budget *b, const struct bide__policy *p,
                  int64_t spent, int64_t now)
{
    int64_t all = p->conf.budget.capacity;
    (void)now;
    atomic_store(&b->level, spent < all ? all - spent : 0);
}

const struct bide__budget_kind bide__budget_quota = {
    .init = init,
    .take = take,
    .grants = grants,
    .cost = cost,
    .give_back = give_back,
    .settle = settle,
    .report = report,
    .left = left,
    .use = use,
    .start = start,
};
