/* Row 13: an overload that keeps itself alive. 30 workers of 100 ms each serve
 * 300/s; the service stops for 10 s, and what piles up then is served after its
 * clients have given up. Their retries are the load that keeps the queue long. */
#include "oracle.h"
#include "rig.h"

enum { SEEDS = 20, STOP_S = 60, RESUME_S = 70, END_S = 670, LAST_S = 60 };

/* Whether all is well again in the last minute of ten. */
static bool recovers(struct sim_report *r, uint64_t seed,
                     const bide_policy_conf *conf, double rate)
{
    static const struct sim_fault stop = {
        SIM_STOP, STOP_S * BIDE_SECOND, RESUME_S * BIDE_SECOND, 0
    };
    struct sim_rig rig = SIM_RIG_INIT;
    rig.service.workers = 30;
    rig.service.time = sim_exponential(100e6);
    rig.service.faults = &stop;
    rig.service.n_faults = 1;
    rig.fleet.gap = sim_exponential(1e9 / rate);
    sim_rig_start(&rig, seed, conf, 1);
    sim_world_run(&rig.world, END_S * BIDE_SECOND);
    double well = sim_metrics_success(&rig.caller.metrics, END_S - LAST_S,
                                      END_S);
    r->events += rig.world.events;
    sim_rig_done(&rig);
    return well > 0.95;
}

static void count(struct sim_report *r, const bide_policy_conf *conf,
                  double rate, int expected, const char *how)
{
    int n = 0;
    for (uint64_t i = 0; i < SEEDS; i++)
        n += recovers(r, r->seed * SEEDS + i, conf, rate);
    sim_expect(r, SIM_NEAR, expected, n, 0, "of %d runs recover, %g/s, %s",
               SEEDS, rate, how);
}

void sim_oracle_overload(struct sim_report *r)
{
    bide_policy_conf conf = sim_bare_policy(2);
    conf.attempt_timeout_ns = BIDE_SECOND;
    count(r, &conf, 280, 0, "one retry");
    count(r, &conf, 140, SEEDS, "one retry");
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.deposit = BIDE_DEPOSIT_CALL;
    count(r, &conf, 280, 0, "10 % per call");
    conf.budget.deposit = BIDE_DEPOSIT_SUCCESS;
    count(r, &conf, 280, SEEDS, "10 % per success");
}
