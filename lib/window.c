/* The slow paths of the sliding window: recycling a slot, and summing. */
#include "lib/window.h"

/* A slot farther ahead than this is not due to a delayed thread, but to a clock
 * that was set back: the slot is taken over, and counting restarts. */
enum { PLAUSIBLE_LEAD = 4 * BIDE__SLOTS };

/* Whether tag `a` is of a later era, or of a later tick in the same one. Both
 * wrap around, so the difference decides, as with sequence numbers. The tick
 * must be near for the era to mean anything: an era that was left long ago is
 * eventually half-way round, and would look like a later one. */
static bool later(uint64_t a, uint64_t b)
{
    uint64_t era = ((a >> BIDE__TICK_BITS) - (b >> BIDE__TICK_BITS)) & 0xff;
    uint64_t tick = (a - b) & BIDE__TICK_MASK;
    if (tick > PLAUSIBLE_LEAD)
        return false;
    return era != 0 ? era < 0x80 : tick != 0;
}

void bide__window_turn(_Atomic uint64_t *slot, uint64_t tag)
{
    uint64_t seen = atomic_load_explicit(slot, memory_order_relaxed);
    for (;;) {
        uint64_t have = seen >> BIDE__COUNT_BITS;
        uint64_t want = tag << BIDE__COUNT_BITS | 1;
        bool used = (seen & BIDE__COUNT_MAX) != 0;
        if (used && (have == tag || later(have, tag))) {
            /* Another thread turned it first, or our clock is behind. An older
             * era no longer matters; a tick late is soon enough. */
            if (have >> BIDE__TICK_BITS != tag >> BIDE__TICK_BITS)
                return;
            want = seen + 1;
        }
        if (atomic_compare_exchange_weak_explicit(
                slot, &seen, want, memory_order_relaxed, memory_order_relaxed))
            return;
    }
}

void bide__window_take_back(struct bide__window *w, uint64_t tick, uint8_t era)
{
    _Atomic uint64_t *slot = &w->slot[tick % BIDE__SLOTS];
    uint64_t tag = bide__window_tag(tick, era);
    uint64_t seen = atomic_load_explicit(slot, memory_order_relaxed);
    do {
        if (seen >> BIDE__COUNT_BITS != tag || (seen & BIDE__COUNT_MAX) == 0)
            return;
    } while (!atomic_compare_exchange_weak_explicit(
        slot, &seen, seen - 1, memory_order_relaxed, memory_order_relaxed));
}

void bide__window_start(struct bide__window *w, uint64_t tick, uint8_t era,
                        uint64_t count)
{
    atomic_store_explicit(&w->slot[tick % BIDE__SLOTS],
                          bide__window_tag(tick, era) << BIDE__COUNT_BITS |
                              count,
                          memory_order_relaxed);
}

uint64_t bide__window_sum(const struct bide__window *w, uint64_t tick,
                          uint8_t era)
{
    uint64_t sum = 0;
    for (uint64_t back = 0; back < BIDE__SLOTS && back <= tick; back++) {
        uint64_t t = tick - back;
        uint64_t seen = atomic_load_explicit(&w->slot[t % BIDE__SLOTS],
                                             memory_order_relaxed);
        if (seen >> BIDE__COUNT_BITS == bide__window_tag(t, era))
            sum += seen & BIDE__COUNT_MAX;
    }
    return sum;
}
