/* Rows 3 and 4: how attempts multiply, at one layer and down a chain. */
#include <stdlib.h>

#include "sim/model/number.h"
#include "sim/oracle/attempts.h"
#include "sim/oracle/harness.h"
#include "sim/oracle/oracle.h"
#include "sim/world/service_work.h"

/* ===== row 3: one layer ===== */

enum { CALLS = 200000, ATTEMPTS = 4 };

static void fail_with(struct sim_report *r, double p)
{
    struct sim_harness harness = SIM_HARNESS_INIT;
    bide_policy_conf conf = sim_bare_policy(ATTEMPTS);
    harness.service.conf.error_rate = p;
    harness.fleet.gap = sim_exponential(1e6);
    harness.fleet.most_calls = CALLS;
    sim_harness_start(&harness, r->seed, &conf, 1);
    sim_world_run(&harness.world, INT64_MAX);

    double load = 0, square = 0, power = 1;
    for (int j = 0; j < ATTEMPTS; j++, power *= p) {
        load += power;
        square += (2 * j + 1) * power;
    }
    double success = (double)harness.caller.metrics.total.successes / CALLS;
    sim_expect(r, SIM_NEAR, load,
               sim_metrics_amplification(&harness.caller.metrics),
               4 * sim_sqrt((square - load * load) / CALLS),
               "attempts per call, p = %g", p);
    sim_expect(r, SIM_NEAR, 1 - power, success,
               4 * sim_sqrt(power * (1 - power) / CALLS),
               "share of calls that succeed, p = %g", p);
    r->events += harness.world.events;
    sim_harness_done(&harness);
}

void sim_oracle_attempts(struct sim_report *r)
{
    fail_with(r, 0.1);
    fail_with(r, 0.5);
    fail_with(r, 1);
}

/* ===== row 4: a chain ===== */

enum { MOST_LAYERS = 5 };

/* Attempts at the bottom for each call at the top; `layers` of them retry: the
 * fleet, and services that only call the next. */
static double chain(struct sim_report *r, uint32_t layers,
                    const bide_policy_conf *conf, uint64_t calls)
{
    static struct sim_model_edge once = { .times = 1 };
    struct sim_harness harness = SIM_HARNESS_INIT;
    struct sim_service tiers[MOST_LAYERS - 1];
    struct sim_target *below = &harness.service.target;
    harness.service.conf.error_rate = 1;
    harness.fleet.gap = sim_exponential(10e6);
    harness.fleet.most_calls = calls;
    harness.caller.target = layers > 1 ? &tiers[0].target : below;
    sim_harness_start(&harness, r->seed, conf, 1);
    for (uint32_t i = layers - 1; i-- > 0; below = &tiers[i].target) {
        tiers[i] = (struct sim_service)SIM_SERVICE_INIT;
        tiers[i].part = 10 + i;
        tiers[i].conf.edges = &once;
        tiers[i].conf.n_edges = 1;
        sim_service_init(&tiers[i], &harness.world);
        if (sim_service_edge(&tiers[i], &harness.world, 0, below, conf,
                             20 + i) < 0)
            abort();
    }
    sim_world_run(&harness.world, INT64_MAX);
    double load = (double)harness.service.arrived / (double)calls;
    r->events += harness.world.events;
    for (uint32_t i = 0; i < layers - 1; i++)
        sim_service_done(&tiers[i]);
    sim_harness_done(&harness);
    return load;
}

void sim_oracle_chain(struct sim_report *r)
{
    bide_policy_conf four = sim_bare_policy(4), three = sim_bare_policy(3);
    four.nested = three.nested = BIDE_NESTED_RETRY;
    sim_expect(r, SIM_NEAR, 64, chain(r, 3, &four, 1000), 0,
               "load, 4 attempts at each of 3 layers");
    sim_expect(r, SIM_NEAR, 243, chain(r, 5, &three, 1000), 0,
               "load, 3 attempts at each of 5 layers");

    bide_policy_conf budget = four, pass = four;
    pass.nested = BIDE_NESTED_PASS;
    sim_expect(r, SIM_NEAR, 4, chain(r, 3, &pass, 1000), 0,
               "load, only the first of 3 layers retries");
    budget.budget.kind = BIDE_BUDGET_WINDOW;
    budget.budget.deposit = BIDE_DEPOSIT_CALL;
    budget.budget.ratio = 0.1;
    budget.budget.floor_per_s = 0;
    sim_expect(r, SIM_AT_MOST, 1.331, chain(r, 3, &budget, 20000), 0,
               "load, with a budget of 10 %% at each of 3 layers");
}
