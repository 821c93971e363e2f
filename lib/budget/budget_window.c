/* The window: retries may spend a share of the deposits over a sliding window,
 * plus a floor. What is outstanding is exact under any number of threads
 * (spend.h). */
#include <stddef.h>

#include "lib/budget/budget.h"

static int64_t limit(const struct bide__policy *p,
                     const struct bide__lane *lanes, int64_t now)
{
    uint64_t tick = bide__tick(p->deposit_ticks, now);
    uint64_t deposits = bide__lanes_sum(lanes, p->conf.lanes,
                                        offsetof(struct bide__lane, deposits),
                                        tick, 0);
    return (p->budget_floor + p->budget_ratio * (int64_t)deposits) /
           BIDE__MILLION;
}

static void deposit(const struct bide__policy *p, struct bide__lane *lane,
                    int64_t now)
{
    bide__window_add(&lane->deposits, bide__tick(p->deposit_ticks, now), 0);
}

static void reclaim(struct bide__budget *b, const struct bide__policy *p)
{
    (void)p;
    bide__spend_recount(&b->spend);
}

static void begin(const struct bide__policy *p, struct bide__lane *lane,
                  int64_t now)
{
    if (p->conf.budget.deposit == BIDE_DEPOSIT_CALL)
        deposit(p, lane, now);
}

static bool take(struct bide__budget *b, const struct bide__policy *p,
                 const struct bide__lane *lanes,
                 const struct bide__failure *after, int64_t now,
                 struct bide__ticket *ret)
{
    (void)after;
    return bide__spend_take(&b->spend, bide__tick(p->spend_ticks, now),
                            limit(p, lanes, now), &ret->tick);
}

static int64_t grants(const struct bide__budget *b,
                      const struct bide__policy *p,
                      const struct bide__lane *lanes, int64_t now)
{
    (void)b;
    return limit(p, lanes, now);
}

static void give_back(struct bide__budget *b, const struct bide__policy *p,
                      const struct bide__ticket *ticket)
{
    (void)p;
    bide__spend_give(&b->spend, ticket->tick);
}

static void report(struct bide__budget *b, const struct bide__policy *p,
                   struct bide__lane *lane, const struct bide__budget_end *end,
                   int64_t now)
{
    (void)b;
    if (end->first && end->cls == BIDE_SUCCESS &&
        p->conf.budget.deposit == BIDE_DEPOSIT_SUCCESS)
        deposit(p, lane, now);
}

static struct bide__budget_use use(const struct bide__budget *b,
                                   const struct bide__policy *p,
                                   const struct bide__lane *lanes, int64_t now)
{
    return (struct bide__budget_use){
        bide__spend_outstanding(&b->spend, bide__tick(p->spend_ticks, now)),
        limit(p, lanes, now)
    };
}

static void start(struct bide__budget *b, const struct bide__policy *p,
                  int64_t spent, int64_t now)
{
    bide__spend_start(&b->spend, bide__tick(p->spend_ticks, now), spent);
}

static int64_t left(const struct bide__budget *b, const struct bide__policy *p,
                    const struct bide__lane *lanes, int64_t now)
{
    struct bide__budget_use u = use(b, p, lanes, now);
    return u.all - u.spent;
}

const struct bide__budget_kind bide__budget_window = {
    .reclaim = reclaim,
    .begin = begin,
    .take = take,
    .grants = grants,
    .give_back = give_back,
    .report = report,
    .left = left,
    .use = use,
    .start = start,
};
