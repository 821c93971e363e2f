/* Builds the smallest complete model: one world, one service, one caller, one
 * fleet. */
#include "sim/oracle/harness.h"

#include <stdio.h>
#include <stdlib.h>

void sim_harness_start(struct sim_harness *harness, uint64_t seed,
                       const bide_policy_conf *conf, uint32_t n_deps)
{
    sim_world_init(&harness->world, seed);
    sim_service_init(&harness->service, &harness->world);
    if (!harness->caller.target)
        harness->caller.target = &harness->service.target;
    int rc = sim_caller_init(&harness->caller, &harness->world, conf, n_deps);
    if (rc < 0) {
        fprintf(stderr, "bide sim: %s\n", bide_strerror(rc));
        exit(1);
    }
    harness->fleet.caller = &harness->caller;
    sim_fleet_start(&harness->fleet, &harness->world);
}

void sim_harness_done(struct sim_harness *harness)
{
    sim_fleet_done(&harness->fleet);
    sim_caller_done(&harness->caller);
    sim_service_done(&harness->service);
    sim_world_done(&harness->world);
}

bide_policy_conf sim_bare_policy(uint32_t attempts)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.attempts = attempts;
    conf.attempt_timeout_ns = BIDE_HOUR;
    conf.budget.kind = BIDE_BUDGET_OFF;
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.latency.measure = false;
    return conf;
}
