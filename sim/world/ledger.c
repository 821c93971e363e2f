/* A set of names as a hash table: linear probing, at most half full. */
#include "sim/world/ledger.h"

#include <stdlib.h>

#include "sim/model/memory.h"

/* The slot of the name, or the free slot where it would go. */
static uint32_t place(const struct sim_ledger *l, uint64_t name)
{
    uint32_t i = (uint32_t)(name >> 32) & (l->room - 1);
    while (l->names[i] != 0 && l->names[i] != name)
        i = (i + 1) & (l->room - 1);
    return i;
}

static void grow(struct sim_ledger *l)
{
    struct sim_ledger wider = { .room = l->room ? 2 * l->room : 64,
                                .n = l->n };
    wider.names = sim_new(wider.room, sizeof *wider.names);
    for (uint32_t i = 0; i < l->room; i++)
        if (l->names[i] != 0)
            wider.names[place(&wider, l->names[i])] = l->names[i];
    free(l->names);
    *l = wider;
}

void sim_ledger_done(struct sim_ledger *l)
{
    free(l->names);
}

bool sim_ledger_add(struct sim_ledger *l, uint64_t name)
{
    if (2 * l->n >= l->room)
        grow(l);
    uint32_t i = place(l, name);
    if (l->names[i] == name)
        return false;
    l->names[i] = name;
    l->n++;
    return true;
}

/* Entries after it that collided with it move up. */
void sim_ledger_remove(struct sim_ledger *l, uint64_t name)
{
    if (l->n == 0)
        return;
    uint32_t mask = l->room - 1, hole = place(l, name);
    if (l->names[hole] == 0)
        return;
    for (uint32_t i = (hole + 1) & mask; l->names[i] != 0; i = (i + 1) & mask) {
        uint32_t home = (uint32_t)(l->names[i] >> 32) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            l->names[hole] = l->names[i];
            hole = i;
        }
    }
    l->names[hole] = 0;
    l->n--;
}
