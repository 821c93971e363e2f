/* Calls by easy handle: chained, with the links in the calls themselves. */
#include "curl/table.h"

#include <stdint.h>
#include <stdlib.h>

#include "curl/multi.h"

enum { FIRST_SLOTS = 64 };

static size_t slot_of(size_t n_slots, const CURL *easy)
{
    uint64_t h = (uint64_t)(uintptr_t)easy * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32) & (n_slots - 1);
}

static void put(struct bide__multi_call **slots, size_t n_slots,
                struct bide__multi_call *mc)
{
    struct bide__multi_call **slot = &slots[slot_of(n_slots, mc->base.easy)];
    mc->chain = *slot;
    *slot = mc;
}

static bool grow(struct bide__table *t)
{
    size_t n = t->n_slots ? t->n_slots * 2 : FIRST_SLOTS;
    struct bide__multi_call **slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < t->n_slots; i++) {
        while (t->slots[i]) {
            struct bide__multi_call *mc = t->slots[i];
            t->slots[i] = mc->chain;
            put(slots, n, mc);
        }
    }
    free(t->slots);
    t->slots = slots;
    t->n_slots = n;
    return true;
}

bool bide__table_add(struct bide__table *t, struct bide__multi_call *mc)
{
    if (t->n >= t->n_slots && !grow(t))
        return false;
    put(t->slots, t->n_slots, mc);
    t->n++;
    return true;
}

struct bide__multi_call *bide__table_find(const struct bide__table *t,
                                          const CURL *easy)
{
    if (t->n == 0)
        return NULL;
    struct bide__multi_call *mc = t->slots[slot_of(t->n_slots, easy)];
    while (mc && mc->base.easy != easy)
        mc = mc->chain;
    return mc;
}

void bide__table_remove(struct bide__table *t, struct bide__multi_call *mc)
{
    size_t slot = slot_of(t->n_slots, mc->base.easy);
    struct bide__multi_call **at = &t->slots[slot];
    while (*at != mc)
        at = &(*at)->chain;
    *at = mc->chain;
    t->n--;
}

void bide__table_free(struct bide__table *t)
{
    free(t->slots);
}
