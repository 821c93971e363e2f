/* Paying for retries and hedges. */
#include "lib/ticket.h"

#include <stddef.h>

/* Hedges have their own ceiling below the budget, unless it is as high as
 * hedge.max itself: then it must not refuse any, although calls and hedges are
 * counted over windows that do not quite coincide. */
static bool take_under_ceiling(struct bide__call *c, int64_t now)
{
    const struct bide__policy *p = &c->dep->policy;
    if (p->extra_load == BIDE_FOREVER)
        return true;
    uint64_t calls = bide__lanes_sum(c->dep->lanes, p->conf.lanes,
                                     offsetof(struct bide__lane, calls),
                                     bide__tick(p->hedge_ticks, now), 0);
    int64_t limit = p->extra_load * (int64_t)calls / BIDE__MILLION;
    return bide__spend_take(&c->dep->hedge_spend,
                            bide__tick(p->hedge_spend_ticks, now), limit,
                            &c->hedge_tick);
}

/* Retries that the call has spent so far; of a budget that gets them back, those
 * that run. */
static uint32_t retries_spent(const struct bide__call *c)
{
    uint32_t n = 0;
    if (c->dep->policy.conf.budget.kind != BIDE_BUDGET_IN_FLIGHT)
        return bide__counted(c) - 1;
    for (unsigned i = 0; i < c->n_running; i++)
        n += c->running[i].paid;
    return n;
}

static struct bide__failure failure_of(const struct bide__call *c)
{
    return (struct bide__failure){ (bide_class)c->cls,
                                   c->fault == BIDE_FAULT_TIMEOUT,
                                   retries_spent(c) };
}

bool bide__share_spent(const struct bide__call *c, int64_t now)
{
    struct bide__failure after = failure_of(c);
    return c->is.judged &&
           !bide__budget_within_share(&c->dep->budget, &c->dep->policy,
                                      c->dep->lanes, &after, now);
}

/* In a fleet the budget of kind window is the fleet's. */
static bool pay(bide_dep *dep, const struct bide__failure *after, int64_t now,
                struct bide__ticket *ret)
{
    const struct bide__policy *p = &dep->policy;
    if (p->conf.budget.kind == BIDE_BUDGET_WINDOW &&
        bide__share_pays(&dep->share))
        return bide__budget_within_share(&dep->budget, p, dep->lanes, after,
                                         now) &&
               bide__share_take(dep, now, ret);
    return bide__budget_take(&dep->budget, p, dep->lanes, after, now, ret);
}

bool bide__ticket_take(struct bide__call *c, int64_t now)
{
    bide_dep *dep = c->dep;
    bool hedge = dep->policy.conf.hedge.max != 0;
    if (hedge && !take_under_ceiling(c, now))
        return false;
    struct bide__ticket ticket = { 0, 0 };
    struct bide__failure after = failure_of(c);
    c->is.granted = pay(dep, &after, now, &ticket);
    c->ticket_tick = ticket.tick;
    c->ticket_tokens = ticket.tokens;
    if (hedge && !c->is.granted)
        bide__spend_give(&dep->hedge_spend, c->hedge_tick);
    return c->is.granted;
}

void bide__ticket_give_back(struct bide__call *c)
{
    bide_dep *dep = c->dep;
    struct bide__ticket ticket = { c->ticket_tick, c->ticket_tokens };
    bide__budget_give_back(&dep->budget, &dep->policy, &ticket);
    if (dep->policy.conf.hedge.max != 0)
        bide__spend_give(&dep->hedge_spend, c->hedge_tick);
    c->is.granted = false;
}
