/* Retry budgets: dispatches each operation to the policy's kind of budget. */
#include "lib/budget/budget.h"

#include <stddef.h>

/* NULL: no budget, every retry is granted. */
static const struct bide__budget_kind *kind_of(const struct bide__policy *p)
{
    switch (p->conf.budget.kind) {
    case BIDE_BUDGET_OFF:
        break;
    case BIDE_BUDGET_WINDOW:
        return &bide__budget_window;
    case BIDE_BUDGET_QUOTA:
        return &bide__budget_quota;
    case BIDE_BUDGET_THROTTLE:
        return &bide__budget_throttle;
    case BIDE_BUDGET_IN_FLIGHT:
        return &bide__budget_in_flight;
    }
    return NULL;
}

bool bide__budget_move(struct bide__budget *b, int64_t change, int64_t at_least,
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

void bide__budget_init(struct bide__budget *b, const struct bide__policy *p)
{
    const struct bide__budget_kind *kind = kind_of(p);
    atomic_init(&b->level, 0);
    if (kind && kind->init)
        kind->init(b, p);
}

void bide__budget_reclaim(struct bide__budget *b, const struct bide__policy *p)
{
    const struct bide__budget_kind *kind = kind_of(p);
    atomic_store(&b->calls, 0);
    if (kind && kind->reclaim)
        kind->reclaim(b, p);
}

void bide__budget_begin(const struct bide__policy *p, struct bide__lane *lane,
                        int64_t now)
{
    const struct bide__budget_kind *kind = kind_of(p);
    if (kind && kind->begin)
        kind->begin(p, lane, now);
}

/* Its earlier retries are taken to have cost what this one costs. */
bool bide__budget_within_share(const struct bide__budget *b,
                               const struct bide__policy *p,
                               const struct bide__lane *lanes,
                               const struct bide__failure *after, int64_t now)
{
    const struct bide__budget_kind *kind = kind_of(p);
    if (!kind || p->per_call >= BIDE__MILLION || after->spent == 0)
        return true;
    double cost = kind->cost ? kind->cost(&p->conf.budget, after) : 1;
    double share = (double)p->per_call / BIDE__MILLION *
                   (double)kind->grants(b, p, lanes, now);
    return (after->spent + 1.0) * cost <= share + 1e-6;
}

bool bide__budget_take(struct bide__budget *b, const struct bide__policy *p,
                       const struct bide__lane *lanes,
                       const struct bide__failure *after, int64_t now,
                       struct bide__ticket *ret)
{
    const struct bide__budget_kind *kind = kind_of(p);
    if (!kind)
        return true;
    return bide__budget_within_share(b, p, lanes, after, now) &&
           kind->take(b, p, lanes, after, now, ret);
}

void bide__budget_give_back(struct bide__budget *b,
                            const struct bide__policy *p,
                            const struct bide__ticket *ticket)
{
    const struct bide__budget_kind *kind = kind_of(p);
    if (kind && kind->give_back)
        kind->give_back(b, p, ticket);
}

void bide__budget_settle(struct bide__budget *b, const struct bide__policy *p,
                         const struct bide__ticket *ticket, bool success)
{
    const struct bide__budget_kind *kind = kind_of(p);
    if (kind && kind->settle)
        kind->settle(b, p, ticket, success);
}

void bide__budget_report(struct bide__budget *b, const struct bide__policy *p,
                         struct bide__lane *lane,
                         const struct bide__budget_end *end, int64_t now)
{
    const struct bide__budget_kind *kind = kind_of(p);
    if (kind && kind->report)
        kind->report(b, p, lane, end, now);
}

int64_t bide__budget_left(const struct bide__budget *b,
                          const struct bide__policy *p,
                          const struct bide__lane *lanes, int64_t now)
{
    const struct bide__budget_kind *kind = kind_of(p);
    int64_t left = kind ? kind->left(b, p, lanes, now) : BIDE_FOREVER;
    return left > 0 ? left : 0;
}

struct bide__budget_use bide__budget_use(const struct bide__budget *b,
                                         const struct bide__policy *p,
                                         const struct bide__lane *lanes,
                                         int64_t now)
{
    const struct bide__budget_kind *kind = kind_of(p);
    if (!kind)
        return (struct bide__budget_use){ 0, 0 };
    return kind->use(b, p, lanes, now);
}

double bide__budget_spent(const struct bide__budget *b,
                          const struct bide__policy *p,
                          const struct bide__lane *lanes, int64_t now)
{
    const struct bide__budget_kind *kind = kind_of(p);
    struct bide__budget_use u = bide__budget_use(b, p, lanes, now);
    if (!kind || !kind->start)
        return 0;
    if (u.all <= 0)
        return u.spent > 0;
    return (double)u.spent / (double)u.all;
}

/* Rounded up: what was spent must not come back. */
void bide__budget_start(struct bide__budget *b, const struct bide__policy *p,
                        const struct bide__lane *lanes, double share,
                        int64_t now)
{
    const struct bide__budget_kind *kind = kind_of(p);
    if (!kind || !kind->start)
        return;
    double spent = (double)kind->use(b, p, lanes, now).all * share;
    int64_t whole = (int64_t)(spent < 1e15 ? spent : 1e15);
    kind->start(b, p, whole + (spent - (double)whole > 1e-6), now);
}
