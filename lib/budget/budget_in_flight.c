/* In flight: concurrent retries, including those that wait, up to a share of
 * the current calls, as in Envoy (which does not count those that wait). */
#include <stddef.h>

#include "lib/budget/budget.h"

static int64_t limit(const struct bide__budget *b, const struct bide__policy *p)
{
    int64_t calls = atomic_load_explicit(&b->calls, memory_order_acquire);
    int64_t share = p->budget_ratio * calls / BIDE__MILLION;
    int64_t least = p->conf.budget.min_in_flight;
    return share > least ? share : least;
}

static void reclaim(struct bide__budget *b, const struct bide__policy *p)
{
    (void)p;
    atomic_store(&b->level, 0);
}

static bool take(struct bide__budget *b, const struct bide__policy *p,
                 const struct bide__lane *lanes,
                 const struct bide__failure *after, int64_t now,
                 struct bide__ticket *ret)
{
    (void)lanes;
    (void)after;
    (void)now;
    (void)ret;
    return bide__budget_move(b, 1, 0, limit(b, p));
}

static int64_t grants(const struct bide__budget *b,
                      const struct bide__policy *p,
                      const struct bide__lane *lanes, int64_t now)
{
    (void)lanes;
    (void)now;
    return limit(b, p);
}

static void give_back(struct bide__budget *b, const struct bide__policy *p,
                      const struct bide__ticket *ticket)
{
    (void)p;
    (void)ticket;
    atomic_fetch_sub_explicit(&b->level, 1, memory_order_acq_rel);
}

static void settle(struct bide__budget *b, const struct bide__policy *p,
                   const struct bide__ticket *ticket, bool success)
{
    (void)success;
    give_back(b, p, ticket);
}

static struct bide__budget_use use(const struct bide__budget *b,
                                   const struct bide__policy *p,
                                   const struct bide__lane *lanes, int64_t now)
{
    (void)lanes;
    (void)now;
    return (struct bide__budget_use){
        atomic_load_explicit(&b->level, memory_order_acquire), limit(b, p)
    };
}

static int64_t left(const struct bide__budget *b, const struct bide__policy *p,
                    const struct bide__lane *lanes, int64_t now)
{
    struct bide__budget_use u = use(b, p, lanes, now);
    return u.all - u.spent;
}

const struct bide__budget_kind bide__budget_in_flight = {
    .reclaim = reclaim,
    .take = take,
    .grants = grants,
    .give_back = give_back,
    .settle = settle,
    .left = left,
    .use = use, /* no `start`: it belongs to the calls that run */
};
