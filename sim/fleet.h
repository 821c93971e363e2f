/* Clients that make calls: open loop (calls come at a rate, whatever becomes of
 * them) or closed loop (each client makes its next call some time after the last
 * one ended).
 *
 *     struct sim_fleet fleet = { .caller = &caller, .clients = 1000,
 *         .gap = sim_exponential(1e9 / rate) };
 *     sim_fleet_start(&fleet, world);
 *
 * The arrivals of an open fleet are one event, not one for each client: the sum
 * of many Poisson processes is one. Threads: owned. */
#ifndef BIDE_SIM_FLEET_H
#define BIDE_SIM_FLEET_H

#include "caller.h"
#include "dist.h"

struct sim_fleet {
    /* as the model wants it */
    struct sim_caller *caller;
    uint32_t part;         /* its number among the parts, for its luck */
    uint32_t clients;      /* over 0 */
    bool closed;
    struct sim_dist gap;   /* open: between calls; closed: from end to begin */
    uint64_t most_calls;   /* 0: no end */
    int64_t until_ns;      /* no call begins at or after it; 0: no end */

    /* as it stands */
    struct sim_actor actor;
    uint64_t n_calls;
    uint32_t *made;        /* closed: calls of each client */
};

/* Starts it. A closed fleet takes over the caller's on_done; its clients begin
 * after a first gap each. */
void sim_fleet_start(struct sim_fleet *f, struct sim_world *w);
void sim_fleet_done(struct sim_fleet *f);

#endif
