/* A ledger: what has been done before, as a set of 64-bit names.
 *
 *     if (!sim_ledger_add(&ledger, name))
 *         duplicates++;
 *
 * Names are hashes, so two things share one with a chance of n^2 / 2^65.
 * All zero is an empty one. Threads: owned. */
#ifndef BIDE_SIM_WORLD_LEDGER_H
#define BIDE_SIM_WORLD_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

struct sim_ledger {
    uint64_t *names; /* open addressing; 0: a free slot */
    uint32_t n, room; /* room is a power of 2 */
};

void sim_ledger_done(struct sim_ledger *l);

/* Adds a name that is not 0; false if it was already there. */
bool sim_ledger_add(struct sim_ledger *l, uint64_t name);

/* Removes a name, if it is there. */
void sim_ledger_remove(struct sim_ledger *l, uint64_t name);

#endif
