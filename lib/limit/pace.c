/* A fixed rate with bursts; pace.h explains the word. */
#include "lib/limit/pace.h"

#include "bide/policy.h"
#include "lib/ns.h"

int64_t bide__pace_interval(double per_s)
{
    if (!(per_s > 0))
        return 0;
    int64_t ns = bide__scale_ns(BIDE_SECOND, 1 / per_s);
    if (ns < 1)
        ns = 1;
    return (double)ns * per_s < 1e9 ? bide__add_ns(ns, 1) : ns;
}

bool bide__pace_take(struct bide__pace *pace, int64_t interval, int64_t burst,
                     int64_t now, int64_t latest, int64_t *ret_at)
{
    int64_t next = atomic_load_explicit(&pace->next, memory_order_relaxed);
    int64_t turn;
    do {
        turn = next > now ? next : now;
        *ret_at = turn - burst;
        if (*ret_at > now && *ret_at > latest)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        &pace->next, &next, bide__add_ns(turn, interval), memory_order_acq_rel,
        memory_order_relaxed));
    return true;
}

void bide__pace_give(struct bide__pace *pace, int64_t interval, int64_t burst,
                     int64_t at)
{
    int64_t turn = at + burst;
    int64_t last = bide__add_ns(turn, interval);
    atomic_compare_exchange_strong_explicit(&pace->next, &last, turn,
                                            memory_order_acq_rel,
                                            memory_order_relaxed);
}
