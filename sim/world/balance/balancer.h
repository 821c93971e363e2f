/* The balancer of a caller: chooses a server for each attempt, by the rules that
 * the sidecar has (base/balance.h).
 *
 *     b = sim_balancer_new(world, &service, n_processes, part);
 *     uint32_t choice = sim_balancer_join(b);             // a call
 *     server = sim_balancer_choose(b, choice, &for_it, now);
 *     sim_balancer_ended(b, choice, attempt, &outcome, now);
 *     sim_balancer_leave(b, choice, now);
 *
 * Each process of the caller has a view of its own: how many of its attempts a
 * server has, and, if servers are ejected, a breaker for each of them.
 * Threads: owned. */
#ifndef BIDE_SIM_WORLD_BALANCE_BALANCER_H
#define BIDE_SIM_WORLD_BALANCE_BALANCER_H

#include "bide/bide.h"
#include "sim/model/model.h"
#include "sim/world/world.h"

struct sim_balancer;

/* `part` is that of the caller, for its luck. Never NULL; the service's conf must
 * outlive it. */
struct sim_balancer *sim_balancer_new(const struct sim_world *w,
                                      const struct sim_model_service *conf,
                                      uint32_t n_processes, uint32_t part);
void sim_balancer_free(struct sim_balancer *b); /* NULL is fine */

/* A call begins, and has tried no server; and it ends, with whatever attempts it
 * still has. */
uint32_t sim_balancer_join(struct sim_balancer *b);
void sim_balancer_leave(struct sim_balancer *b, uint32_t choice,
                        int64_t now_ns);

/* An attempt. */
struct sim_choosing {
    uint32_t process;
    uint64_t client; /* decides the shard */
    uint32_t attempt;
    uint64_t random;
};

/* Chooses its server, a number within the shard. */
uint32_t sim_balancer_choose(struct sim_balancer *b, uint32_t choice,
                             const struct sim_choosing *for_it, int64_t now_ns);

/* An attempt has ended so. */
void sim_balancer_ended(struct sim_balancer *b, uint32_t choice,
                        uint32_t attempt, const bide_outcome *out,
                        int64_t now_ns);

#endif
