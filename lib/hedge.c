/* When a hedge is sent: after a fixed time, or after a quantile of recent
 * latency. */
#include "lib/hedge.h"

#include <stddef.h>

/* First attempts, but the one that has just begun, that have not ended, while
 * the measurements are younger than their window; then 0. See
 * bide_hedge_conf. */
static uint64_t not_measured_yet(const bide_dep *dep, int64_t now)
{
    const bide_policy_conf *conf = &dep->policy.conf;
    int64_t since =
        atomic_load_explicit(&dep->measured_since_ns, memory_order_relaxed);
    if (since >= 0 && now - since >= conf->latency.window_ns)
        return 0;
    int64_t running = 0;
    for (uint32_t i = 0; i < conf->lanes; i++)
        running +=
            atomic_load_explicit(&dep->lanes[i].running, memory_order_relaxed);
    return running > 1 ? (uint64_t)running - 1 : 0;
}

static void note_samples(bide_dep *dep, uint64_t samples, int64_t now)
{
    int64_t since =
        atomic_load_explicit(&dep->measured_since_ns, memory_order_relaxed);
    if ((since < 0) != (samples == 0))
        atomic_store_explicit(&dep->measured_since_ns, samples ? now : -1,
                              memory_order_relaxed);
}

/* The quantile is looked up 30 times in the window that it is taken over, by
 * whichever call comes first. */
static int64_t hedge_quantile(bide_dep *dep, int64_t now)
{
    const struct bide__policy *p = &dep->policy;
    int64_t look =
        atomic_load_explicit(&dep->hedge_look_ns, memory_order_relaxed);
    int64_t next = bide__add_ns(now, p->conf.latency.window_ns / 30);
    if (now >= look && atomic_compare_exchange_strong_explicit(
                           &dep->hedge_look_ns, &look, next,
                           memory_order_relaxed, memory_order_relaxed)) {
        uint64_t samples;
        int64_t q =
            bide__latency_quantile(dep->latency, p, p->conf.hedge.quantile,
                                   not_measured_yet(dep, now), now, &samples);
        note_samples(dep, samples, now);
        if (samples < p->conf.hedge.min_samples)
            q = -1;
        atomic_store_explicit(&dep->hedge_after_ns, q, memory_order_relaxed);
    }
    return atomic_load_explicit(&dep->hedge_after_ns, memory_order_relaxed);
}

int64_t bide__hedge_due(struct bide__call *c, int64_t now)
{
    int64_t after = c->dep->policy.conf.hedge.after_ns;
    if (after == BIDE_FOREVER)
        after = hedge_quantile(c->dep, now);
    return after < 0 ? BIDE_FOREVER : bide__add_ns(now, after);
}
