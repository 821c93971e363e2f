/* The in-flight cap and adaptive throttling; the adaptive rate is in rate.c. */
#include "lib/limit/limit.h"

#include <stddef.h>

/* Adds one unless there are `most` already. */
static bool add_below(_Atomic uint64_t *n, uint32_t most)
{
    uint64_t seen = atomic_load_explicit(n, memory_order_relaxed);
    do {
        if (seen >= most)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        n, &seen, seen + 1, memory_order_acq_rel, memory_order_relaxed));
    return true;
}

/* Sequentially consistent here and in the queue: a caller that queues and one
 * that leaves a place must not miss each other. The first joins the queue, then
 * looks for a place once more; the second gives up the place, then looks at the
 * queue. Whatever the order, one of them sees the other. */
bool bide__place_take(struct bide__places *places, uint32_t most)
{
    return add_below(&places->used, most);
}

bool bide__place_give(struct bide__places *places)
{
    atomic_fetch_sub(&places->used, 1);
    return atomic_load(&places->queued) != 0;
}

bool bide__queue_join(struct bide__places *places, uint32_t most)
{
    bool joined = add_below(&places->queued, most);
    atomic_thread_fence(memory_order_seq_cst);
    return joined;
}

void bide__queue_leave(struct bide__places *places)
{
    atomic_fetch_sub(&places->queued, 1);
}

uint64_t bide__queue_length(const struct bide__places *places)
{
    return atomic_load_explicit(&places->queued, memory_order_relaxed);
}

bool bide__place_free(const struct bide__places *places, uint32_t most)
{
    return atomic_load_explicit(&places->used, memory_order_relaxed) < most;
}

bool bide__place_wanted(struct bide__places *places, uint32_t most)
{
    return atomic_load(&places->used) < most &&
           atomic_load(&places->queued) != 0;
}

#define SUM(member)                                                            \
    bide__lanes_sum(lanes, p->conf.lanes, offsetof(struct bide__lane, member), \
                    tick, 0)

bool bide__throttle_refuses(struct bide__lane *lanes, struct bide__lane *lane,
                            const struct bide__policy *p, const bide_rng *rng,
                            int64_t now)
{
    uint64_t tick = bide__tick(p->throttle_ticks, now);
    int64_t requests = (int64_t)SUM(requests);
    int64_t accepts = (int64_t)SUM(accepts);
    bide__window_add(&lane->requests, tick, 0);

    int64_t over = requests * BIDE__MILLION - p->throttle_k * accepts;
    if (over <= 0)
        return false;
    return bide_rng_between(rng, 0, (requests + 1) * BIDE__MILLION - 1) < over;
}

void bide__throttle_accepted(struct bide__lane *lane,
                             const struct bide__policy *p, int64_t now)
{
    bide__window_add(&lane->accepts, bide__tick(p->throttle_ticks, now), 0);
}

void bide__throttle_forget(struct bide__lane *lane,
                           const struct bide__policy *p, int64_t start_ns)
{
    bide__window_take_back(&lane->requests,
                           bide__tick(p->throttle_ticks, start_ns), 0);
}
