/* Spending over a sliding window; spend.h explains the protocol. */
#include "lib/budget/spend.h"

enum { COUNT_BITS = 28, TICK_BITS = 36 };

#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define TICK_MASK  ((UINT64_C(1) << TICK_BITS) - 1)

/* Ticks wrap around, so the difference decides; a slot ahead of us is never
 * expired. */
static bool expired(uint64_t slot, uint64_t tick)
{
    uint64_t age = (tick - (slot >> COUNT_BITS)) & TICK_MASK;
    return age >= BIDE__SPEND_SLOTS && age <= TICK_MASK / 2;
}

static void take_off(struct bide__spend *s, uint64_t count)
{
    if (count != 0)
        atomic_fetch_sub_explicit(&s->total, (int64_t)count,
                                  memory_order_acq_rel);
}

/* Empties a slot if it has left the window. */
static void expire_slot(struct bide__spend *s, uint64_t i, uint64_t tick)
{
    _Atomic uint64_t *slot = &s->slot[i % BIDE__SPEND_SLOTS];
    uint64_t seen = atomic_load_explicit(slot, memory_order_acquire);
    while ((seen & COUNT_MASK) != 0 && expired(seen, tick)) {
        if (atomic_compare_exchange_weak_explicit(
                slot, &seen, seen & ~COUNT_MASK, memory_order_acq_rel,
                memory_order_acquire)) {
            take_off(s, seen & COUNT_MASK);
            return;
        }
    }
}

/* Empties the slots that have expired since the last check, and only then
 * publishes how far it got: a thread that relies on that must not find the old
 * total. */
static void expire(struct bide__spend *s, uint64_t tick)
{
    uint64_t from = atomic_load_explicit(&s->expired_to, memory_order_acquire);
    if (tick <= from)
        return;
    uint64_t n = tick - from;
    if (n > BIDE__SPEND_SLOTS)
        n = BIDE__SPEND_SLOTS;
    for (uint64_t back = 0; back < n; back++)
        expire_slot(s, tick - back, tick);
    while (from < tick && !atomic_compare_exchange_weak_explicit(
                              &s->expired_to, &from, tick, memory_order_acq_rel,
                              memory_order_acquire))
        ;
}

/* Records one spent unit under `tick`, or under a newer one if the slot has
 * moved on. An empty slot is free to take, whatever it was last used for. */
static uint64_t note(struct bide__spend *s, uint64_t tick)
{
    _Atomic uint64_t *slot = &s->slot[tick % BIDE__SPEND_SLOTS];
    uint64_t seen = atomic_load_explicit(slot, memory_order_acquire);
    for (;;) {
        bool turn = (seen & COUNT_MASK) == 0 || expired(seen, tick);
        uint64_t want = turn ? tick << COUNT_BITS | 1 : seen + 1;
        if (atomic_compare_exchange_weak_explicit(slot, &seen, want,
                                                  memory_order_acq_rel,
                                                  memory_order_acquire)) {
            if (turn)
                take_off(s, seen & COUNT_MASK);
            return want >> COUNT_BITS;
        }
    }
}

bool bide__spend_take(struct bide__spend *s, uint64_t tick, int64_t limit,
                      uint64_t *ret_tick)
{
    expire(s, tick);
    int64_t total = atomic_load_explicit(&s->total, memory_order_acquire);
    do {
        if (total >= limit)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        &s->total, &total, total + 1, memory_order_acq_rel,
        memory_order_acquire));
    *ret_tick = note(s, tick);
    return true;
}

void bide__spend_give(struct bide__spend *s, uint64_t tick)
{
    _Atomic uint64_t *slot = &s->slot[tick % BIDE__SPEND_SLOTS];
    uint64_t seen = atomic_load_explicit(slot, memory_order_acquire);
    while (seen >> COUNT_BITS == tick && (seen & COUNT_MASK) != 0) {
        if (atomic_compare_exchange_weak_explicit(slot, &seen, seen - 1,
                                                  memory_order_acq_rel,
                                                  memory_order_acquire)) {
            take_off(s, 1);
            return;
        }
    }
}

void bide__spend_recount(struct bide__spend *s)
{
    uint64_t total = 0;
    for (int i = 0; i < BIDE__SPEND_SLOTS; i++)
        total += atomic_load(&s->slot[i]) & COUNT_MASK;
    atomic_store(&s->total, (int64_t)total);
}

void bide__spend_start(struct bide__spend *s, uint64_t tick, int64_t n)
{
    uint64_t count = (uint64_t)n < COUNT_MASK / 2 ? (uint64_t)n : COUNT_MASK / 2;
    atomic_store(&s->slot[tick % BIDE__SPEND_SLOTS], tick << COUNT_BITS | count);
    atomic_store(&s->expired_to, tick);
    atomic_store(&s->total, (int64_t)count);
}

/* Does not expire anything: a gauge must not write. */
int64_t bide__spend_outstanding(const struct bide__spend *s, uint64_t tick)
{
    int64_t total = atomic_load_explicit(&s->total, memory_order_acquire);
    for (int i = 0; i < BIDE__SPEND_SLOTS; i++) {
        uint64_t seen = atomic_load_explicit(&s->slot[i], memory_order_acquire);
        if (expired(seen, tick))
            total -= (int64_t)(seen & COUNT_MASK);
    }
    return total > 0 ? total : 0;
}
