#include "sim/oracle/rig.h"

#include <stdio.h>
#include <stdlib.h>

void sim_rig_start(struct sim_rig *rig, uint64_t seed,
                   const bide_policy_conf *conf, uint32_t n_deps)
{
    sim_world_init(&rig->world, seed);
    sim_service_init(&rig->service, &rig->world);
    if (!rig->caller.target)
        rig->caller.target = &rig->service.target;
    int rc = sim_caller_init(&rig->caller, &rig->world, conf, n_deps);
    if (rc < 0) {
        fprintf(stderr, "bide sim: %s\n", bide_strerror(rc));
        exit(1);
    }
    rig->fleet.caller = &rig->caller;
    sim_fleet_start(&rig->fleet, &rig->world);
}

void sim_rig_done(struct sim_rig *rig)
{
    sim_caller_done(&rig->caller);
    sim_service_done(&rig->service);
    sim_world_done(&rig->world);
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
