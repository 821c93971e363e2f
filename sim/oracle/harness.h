/* A harness: the smallest complete model, one fleet that calls one service, for
 * the oracles, the tests and the benchmark.
 *
 *     struct sim_harness harness = SIM_HARNESS_INIT;
 *     harness.service.conf.workers = 5;
 *     sim_harness_start(&harness, seed, &conf, 1);
 *     sim_world_run(&harness.world, until_ns);
 *     sim_harness_done(&harness);
 *
 * It must not be moved once it has been started. Threads: owned. */
#ifndef BIDE_SIM_ORACLE_HARNESS_H
#define BIDE_SIM_ORACLE_HARNESS_H

#include "sim/world/fleet.h"
#include "sim/world/service.h"

struct sim_harness {
    struct sim_world world;
    struct sim_service service;
    struct sim_caller caller;
    struct sim_fleet fleet;
};

/* Unlimited workers and queue, immediate responses, one client. */
#define SIM_HARNESS_INIT                                                       \
    {                                                                          \
        .service = SIM_SERVICE_INIT, .caller = { .part = 2 },                  \
        .fleet = { .clients = 1, .part = 3 },                                  \
    }

/* Connects the parts and starts the fleet. The policy must be a valid one. */
void sim_harness_start(struct sim_harness *harness, uint64_t seed,
                       const bide_policy_conf *conf, uint32_t n_deps);
void sim_harness_done(struct sim_harness *harness);

/* A policy with attempts and nothing else: no budget, no breaker, no effective
 * timeout, no measurement. */
bide_policy_conf sim_bare_policy(uint32_t attempts);

#endif
