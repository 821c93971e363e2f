/* The latency histogram's slow paths: recycling slices, and quantiles. */
#include "lib/latency.h"

/* The point that lies `share` (0 .. 1) of the way through a bucket. */
static int64_t fine_point(unsigned i, double share)
{
    const unsigned sub = 1u << BIDE__FINE_BITS;
    unsigned shift = i < sub ? 0 : i / sub - 1;
    int64_t low = i < sub ? i : (int64_t)(i % sub + sub) << shift;
    int64_t width = INT64_C(1) << (shift + BIDE__FINE_UNIT_BITS);
    return (low << BIDE__FINE_UNIT_BITS) + (int64_t)((double)width * share);
}

int64_t bide__fine_middle(unsigned i)
{
    return fine_point(i, 0.5);
}

void bide__latency_turn(struct bide__slice *slice, uint64_t tick,
                        struct bide__histogram *totals)
{
    uint64_t was = atomic_load_explicit(&slice->tick, memory_order_relaxed);
    if (was >= tick || !atomic_compare_exchange_strong_explicit(
                           &slice->tick, &was, tick, memory_order_relaxed,
                           memory_order_relaxed))
        return;
    for (unsigned i = 0; i < BIDE__FINE; i++) {
        if (atomic_load_explicit(&slice->bucket[i], memory_order_relaxed) == 0)
            continue;
        uint32_t n = atomic_exchange_explicit(&slice->bucket[i], 0,
                                              memory_order_relaxed);
        bide__histogram_add(totals, bide__fine_middle(i), n);
    }
}

static bool in_window(const struct bide__slice *slice, uint64_t tick)
{
    uint64_t t = atomic_load_explicit(&slice->tick, memory_order_relaxed);
    return t <= tick && t + BIDE__SLICES > tick;
}

/* Sums the slices in the window, bucket by bucket. */
static uint64_t add_up(const struct bide__latency *lanes, uint32_t n_lanes,
                       uint64_t tick, uint32_t sums[BIDE__FINE])
{
    uint64_t all = 0;
    for (uint32_t s = 0; s < n_lanes * BIDE__SLICES; s++) {
        const struct bide__slice *slice =
            &lanes[s / BIDE__SLICES].slice[s % BIDE__SLICES];
        if (!in_window(slice, tick))
            continue;
        for (unsigned i = 0; i < BIDE__FINE; i++) {
            uint32_t n = atomic_load_explicit(&slice->bucket[i],
                                              memory_order_relaxed);
            sums[i] += n;
            all += n;
        }
    }
    return all;
}

int64_t bide__latency_quantile(const struct bide__latency *lanes,
                               const struct bide__policy *p, double q,
                               uint64_t slower, int64_t now,
                               uint64_t *ret_samples)
{
    uint32_t sums[BIDE__FINE] = { 0 };
    uint64_t tick = bide__tick(p->latency_ticks, now);
    uint64_t all = add_up(lanes, p->conf.lanes, tick, sums);
    *ret_samples = all;
    double rank = q * (double)(all + slower);
    if (all == 0 || (slower != 0 && rank > (double)all))
        return -1;

    uint64_t below = 0;
    unsigned i = 0, last = 0;
    for (; i < BIDE__FINE && ((double)below < rank || below == 0); i++) {
        if (sums[i] != 0)
            last = i;
        below += sums[i];
    }
    double within = rank - (double)(below - sums[last]);
    return fine_point(last, within / (double)sums[last]);
}

void bide__latency_add_to(const struct bide__latency *lanes, uint32_t n_lanes,
                          bide_histogram *h)
{
    for (uint32_t l = 0; l < n_lanes; l++)
        for (unsigned s = 0; s < BIDE__SLICES; s++)
            for (unsigned i = 0; i < BIDE__FINE; i++)
                bide__histogram_count(
                    h, bide__fine_middle(i),
                    atomic_load_explicit(&lanes[l].slice[s].bucket[i],
                                         memory_order_relaxed));
}
