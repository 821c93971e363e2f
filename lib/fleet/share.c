/* What calls ask of their share of a fleet; share.h explains the protocol. */
#include "lib/fleet/share.h"

#include <stddef.h>

#include "bide/error.h"
#include "bide/share.h"
#include "lib/dep.h"

/* What the instance may spend over a window when nobody tells it. */
static int64_t alone_limit(const bide_dep *dep, int64_t now)
{
    const struct bide__policy *p = &dep->policy;
    const struct bide__share *s = &dep->share;
    uint64_t deposits = bide__lanes_sum(dep->lanes, p->conf.lanes,
                                        offsetof(struct bide__lane, deposits),
                                        bide__tick(p->deposit_ticks, now), 0);
    int64_t limit = (atomic_load(&s->floor) +
                     p->budget_ratio * (int64_t)deposits) / BIDE__MILLION;
    if (now < atomic_load(&s->debt_until_ns))
        limit -= atomic_load(&s->debt);
    int64_t unheard = atomic_load(&s->unheard_until_ns);
    return limit > 1 && (unheard < 0 || now < unheard) ? 1 : limit;
}

static bool leased(const struct bide__share *s, int64_t now)
{
    return now < atomic_load_explicit(&s->lease_until_ns, memory_order_acquire);
}

static bool take_one(_Atomic int64_t *from)
{
    int64_t n = atomic_load(from);
    do {
        if (n <= 0)
            return false;
    } while (!atomic_compare_exchange_weak(from, &n, n - 1));
    return true;
}

bool bide__share_take(bide_dep *dep, int64_t now, struct bide__ticket *ret)
{
    struct bide__share *s = &dep->share;
    struct bide__spend *spend = &dep->budget.spend;
    uint64_t tick = bide__tick(dep->policy.spend_ticks, now);

    int64_t unwanted = -1;

    atomic_compare_exchange_strong(&s->unheard_until_ns, &unwanted,
                                   bide__add_ns(now, BIDE_SHARE_HOLDS_NS));
    atomic_fetch_add_explicit(&s->wanted, 1, memory_order_relaxed);
    if (!leased(s, now))
        return bide__spend_take(spend, tick, alone_limit(dep, now), &ret->tick);
    if (atomic_load(&s->lease) <= 0 ||
        !bide__spend_take(spend, tick, INT64_MAX, &ret->tick))
        return false;
    if (take_one(&s->lease))
        return true;
    bide__spend_give(spend, ret->tick);
    return false;
}

struct bide__budget_use bide__share_use(const bide_dep *dep, int64_t now)
{
    const struct bide__share *s = &dep->share;
    int64_t spent = bide__spend_outstanding(
        &dep->budget.spend, bide__tick(dep->policy.spend_ticks, now));
    int64_t all = leased(s, now) ? spent + atomic_load(&s->lease)
                                 : alone_limit(dep, now);
    return (struct bide__budget_use){ spent, all > 0 ? all : 0 };
}

bool bide__share_refuses_probe(bide_dep *dep, int64_t now)
{
    struct bide__share *s = &dep->share;
    if (!atomic_load(&s->gated) || now >= atomic_load(&s->joined_until_ns) ||
        bide__breaker_normal_state(&dep->breaker, now) !=
            BIDE_BREAKER_HALF_OPEN)
        return false;
    return now >= atomic_load(&s->permits_until_ns) || !take_one(&s->permits);
}

int bide_dep_share_view(const bide_dep *dep, int64_t now_ns,
                        bide_share_view *ret)
{
    if (!dep || !ret)
        return BIDE_EINVAL;
    const struct bide__share *s = &dep->share;
    if (!atomic_load(&s->on))
        return BIDE_ESTATE;
    int64_t lease = atomic_load(&s->lease);
    bool is_leased = leased(s, now_ns);
    *ret = (bide_share_view){
        .joined = now_ns < atomic_load(&s->joined_until_ns),
        .leased = is_leased,
        .instances = atomic_load(&s->instances),
        .held = is_leased && lease > 0 ? (uint64_t)lease : 0,
        .allowed = atomic_load(&s->allowed),
        .used = atomic_load(&s->used),
        .with_traffic = atomic_load(&s->with_traffic),
        .failing = atomic_load(&s->failing),
        .gated = atomic_load(&s->gated),
        .opened = atomic_load(&s->opened),
        .closed = atomic_load(&s->closed),
    };
    return 0;
}
