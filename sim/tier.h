/* A tier: a service that does its work by calling the next one down, with a
 * policy of its own. Chains of them show what retries at every layer cost.
 *
 *     struct sim_tier middle = { .caller = { .target = &database.target } };
 *     sim_tier_init(&middle, world, &conf);
 *     front.target = &middle.target;
 *
 * It passes on what attempt it is serving (DESIGN section 6), so a policy with
 * `nested: pass` leaves the retries to the layer above. Threads: owned. */
#ifndef BIDE_SIM_TIER_H
#define BIDE_SIM_TIER_H

#include "caller.h"

struct sim_tier {
    struct sim_caller caller; /* of the next one down: set its target */
    struct sim_target target;
    struct sim_actor actor;
    struct sim_request *served; /* by their number */
    uint32_t *free;
    uint32_t n_served, n_free, served_room, free_room;
};

/* As sim_caller_init(). */
int sim_tier_init(struct sim_tier *t, struct sim_world *w,
                  const bide_policy_conf *conf);
void sim_tier_done(struct sim_tier *t);

#endif
