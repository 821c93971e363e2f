/* Counters in time slots. With --keep there are slots for a day: memory that is
 * not touched before it is needed. */
#include "cmd/demo/tally.h"

#include <stdlib.h>

bool demo_tally_init(struct demo_tally *t, int64_t start_ns, int64_t length_ns)
{
    t->start_ns = start_ns;
    t->n_slots = (size_t)((length_ns + DEMO_SLOT_NS - 1) / DEMO_SLOT_NS);
    t->slots = calloc(t->n_slots, sizeof *t->slots);
    return t->slots != NULL;
}

void demo_tally_done(struct demo_tally *t)
{
    free(t->slots);
    t->slots = NULL;
}

void demo_tally_add(struct demo_tally *t, enum demo_count what, int64_t now_ns)
{
    int64_t at = now_ns - t->start_ns;
    size_t slot = at > 0 ? (size_t)(at / DEMO_SLOT_NS) : 0;

    if (slot < t->n_slots)
        atomic_fetch_add_explicit(&t->slots[slot].n[what], 1,
                                  memory_order_relaxed);
}

uint64_t demo_tally_sum(const struct demo_tally *t, enum demo_count what,
                        size_t from, size_t to)
{
    uint64_t sum = 0;

    for (size_t i = from; i < to && i < t->n_slots; i++)
        sum += atomic_load_explicit(&t->slots[i].n[what], memory_order_relaxed);
    return sum;
}

double demo_tally_rate(const struct demo_tally *t, enum demo_count what,
                       size_t from, size_t to)
{
    if (to <= from)
        return 0;
    return (double)demo_tally_sum(t, what, from, to) * 1e9 /
           ((double)(to - from) * (double)DEMO_SLOT_NS);
}
