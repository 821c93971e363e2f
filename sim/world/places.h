/* Calls that queue for a place under limits.in_flight, first come, first served.
 *
 * The engine says that a place is free (bide_host.on_place), from inside a call
 * of it; the driver must know whose turn it is. The first in the queue asks one
 * event later. If another call was quicker, it stays the first. Threads:
 * owned. */
#ifndef BIDE_SIM_WORLD_PLACES_H
#define BIDE_SIM_WORLD_PLACES_H

#include "bide/dep.h"
#include "sim/world/world.h"

struct sim_caller;

struct sim_place {
    uint32_t slot, generation;
};

/* The queue of one dependency. */
struct sim_places {
    struct sim_caller *caller;
    struct sim_world *world;
    struct sim_actor actor;
    struct sim_place *list; /* a ring of a power of 2 */
    uint32_t first, n, room;
};

void sim_places_init(struct sim_places *p, struct sim_caller *c,
                     struct sim_world *w);
void sim_places_done(struct sim_places *p);

void sim_places_join(struct sim_places *p, uint32_t slot, uint32_t generation);

/* For bide_host: ctx is the struct sim_places. */
void sim_places_free(void *ctx, const bide_dep *dep);

#endif
