/* Timeouts of equal length expire in the order in which they began, so they need
 * no priority queue: a ring, and one event for its front.
 *
 *     struct sim_timeouts t = { .length_ns = BIDE_SECOND, .caller = caller };
 *     sim_timeouts_add(&t, world, slot, generation, attempt);
 *
 * Most attempts end before their timeout. Their timeouts are not removed, but
 * dropped when they come to the front: a timeout that does not happen costs one
 * write and one read of a ring. Threads: owned. */
#ifndef BIDE_SIM_WORLD_TIMEOUTS_H
#define BIDE_SIM_WORLD_TIMEOUTS_H

#include "sim/world/world.h"

struct sim_caller;

struct sim_timeout {
    int64_t at_ns;
    uint32_t slot, generation, attempt;
};

struct sim_timeouts {
    int64_t length_ns;
    struct sim_caller *caller; /* whose attempts they belong to */

    struct sim_actor actor;
    struct sim_timeout *list; /* a ring of a power of 2 */
    uint32_t first, n, room;
    bool armed;               /* its event is on the agenda */
};

void sim_timeouts_done(struct sim_timeouts *t);

void sim_timeouts_add(struct sim_timeouts *t, struct sim_world *w,
                      uint32_t slot, uint32_t generation, uint32_t attempt);

#endif
