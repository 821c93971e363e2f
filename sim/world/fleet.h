/* Clients that make calls: open loop (calls arrive at a rate, however they
 * end), closed loop (each client makes its next call some time after the last
 * one ended), by the clock, or at the times of a log.
 *
 *     struct sim_fleet fleet = { .caller = &caller, .clients = 1000,
 *                                .gap = sim_exponential(1e9 / rate) };
 *     sim_fleet_start(&fleet, world);
 *
 * The arrivals of an open fleet are one event, not one for each client: the sum
 * of many Poisson processes is one. Threads: owned. */
#ifndef BIDE_SIM_WORLD_FLEET_H
#define BIDE_SIM_WORLD_FLEET_H

#include "sim/model/dist.h"
#include "sim/model/profile.h"
#include "sim/world/caller.h"

/* Gaps are drawn this many at a time: they depend on nothing, and a processor
 * computes several at once in the time of one. A power of 2. */
enum { SIM_AHEAD = 16 };

struct sim_fleet {
    /* from the model */
    struct sim_caller *caller;
    uint32_t part;         /* its number among the parts, for its luck */
    uint32_t clients;      /* over 0 */
    enum sim_arrival arrival;
    struct sim_dist gap;   /* open: between calls; closed: from end to begin */
    double every_ns;       /* open: evenly spaced, and `gap` is not used; 0: by
                            * `gap` */
    struct sim_rates rates; /* open: how the rate changes, and `gap` is then of
                            * areas, a second being 1; no lines: not at all */
    int64_t cron_ns;       /* cron: from one call of a client to its next */
    int64_t spread_ns;     /* closed, cron: clients begin within that long */
    const int64_t *replay_ns; /* when each call begins */
    uint32_t n_replay;
    uint64_t most_calls;   /* of each client (closed) or of all; 0: no end */
    int64_t from_ns;       /* no call begins before it, ... */
    int64_t until_ns;      /* ... at or after that; 0: no end */
    uint32_t waiting;      /* calls that are made at once, when it starts */

    /* current state */
    struct sim_actor actor, first;
    uint64_t n_calls;
    int64_t ahead_ns[SIM_AHEAD]; /* open: gaps before the next calls */
};

/* Starts it. A closed fleet takes over the caller's on_done; its clients begin
 * after a first gap each. */
void sim_fleet_start(struct sim_fleet *f, struct sim_world *w);
void sim_fleet_done(struct sim_fleet *f);

#endif
