/* The throttle: tokens that each failure takes and each success returns, as in
 * gRPC (gRFC A6). Retries are granted while more than half are left; a retry
 * itself costs nothing, since the failure before it has paid. */
#include <stddef.h>

#include "lib/budget/budget.h"

static void init(struct bide__budget *b, const struct bide__policy *p)
{
    atomic_init(&b->level, p->max_tokens);
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
    return atomic_load_explicit(&b->level, memory_order_acquire) >
           p->max_tokens / 2;
}

/* Each failure before a retry takes a token, of those above half. */
static int64_t grants(const struct bide__budget *b,
                      const struct bide__policy *p,
                      const struct bide__lane *lanes, int64_t now)
{
    (void)b;
    (void)lanes;
    (void)now;
    return p->max_tokens / 2 / BIDE__MILLION;
}

/* Not below zero. */
static void take_token(struct bide__budget *b)
{
    int64_t level = atomic_load_explicit(&b->level, memory_order_relaxed);
    int64_t want;
    do {
        want = level > BIDE__MILLION ? level - BIDE__MILLION : 0;
    } while (!atomic_compare_exchange_weak_explicit(&b->level, &level, want,
                                                    memory_order_acq_rel,
                                                    memory_order_relaxed));
}

static void report(struct bide__budget *b, const struct bide__policy *p,
                   struct bide__lane *lane, const struct bide__budget_end *end,
                   int64_t now)
{
    (void)lane;
    (void)now;
    if (end->cls == BIDE_SUCCESS)
        bide__budget_move(b, p->token_ratio, 0, p->max_tokens);
    else if (end->cls == BIDE_TRANSIENT || end->cls == BIDE_THROTTLED ||
             end->cls == BIDE_OVERLOADED || end->refused)
        take_token(b);
}

/* Each retry follows a failure that takes a token first. */
static int64_t left(const struct bide__budget *b, const struct bide__policy *p,
                    const struct bide__lane *lanes, int64_t now)
{
    int64_t level = atomic_load_explicit(&b->level, memory_order_acquire);
    (void)lanes;
    (void)now;
    return (level - p->max_tokens / 2 - 1) / BIDE__MILLION;
}

static struct bide__budget_use use(const struct bide__budget *b,
                                   const struct bide__policy *p,
                                   const struct bide__lane *lanes, int64_t now)
{
    int64_t all = p->max_tokens;
    (void)lanes;
    (void)now;
    return (struct bide__budget_use){
        all - atomic_load_explicit(&b->level, memory_order_acquire), all
    };
}

static void start(struct bide__budget *b, const struct bide__policy *p,
                  int64_t spent, int64_t now)
{
    int64_t all = p->max_tokens;
    (void)now;
    atomic_store(&b->level, spent < all ? all - spent : 0);
}

const struct bide__budget_kind bide__budget_throttle = {
    .init = init,
    .take = take,
    .grants = grants,
    .report = report,
    .left = left,
    .use = use,
    .start = start,
};
