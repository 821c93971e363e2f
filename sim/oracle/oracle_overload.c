/* Row 13: a metastable overload. A service well within its capacity is stopped
 * for ten seconds; the backlog is then served only after its clients have given
 * up. Their retries are the load that keeps the queue long.
 *
 * It runs like any scenario: a model, and sim_run(). */
#include "sim/oracle/harness.h"
#include "sim/oracle/oracle.h"
#include "sim/oracle/queue.h"
#include "sim/study/recovery.h"

enum { SEEDS = 20, STOP_S = 60, RESUME_S = 70, END_S = 670, LAST_S = 60 };

static const struct sim_model_service servers = {
    .name = (char[]){ "api" },
    .workers = 30,
    .shards = 1,
    .time = { .kind = SIM_EXPONENTIAL, .at_ns = 100e6 },
    .queue = SIM_UNBOUNDED,
};

static const struct sim_fault stop = {
    .kind = SIM_STOP,
    .shard = SIM_NONE,
    .fleet = SIM_NONE,
    .from_ns = STOP_S * BIDE_SECOND,
    .to_ns = RESUME_S * BIDE_SECOND,
};

/* The share of the calls finished in the last minute that succeeded. */
static double last_minute(const struct sim_result *run)
{
    double good = 0, bad = 0;
    for (uint32_t i = run->n_steps - LAST_S; i < run->n_steps; i++) {
        good += run->callers[0].value[SIM_SUCCESSES][i];
        bad += run->callers[0].value[SIM_FAILURES][i];
    }
    return good / (good + bad);
}

/* Whether the service is healthy again in the last minute of ten; and whether
 * the figure that users see says the same. */
static bool recovers(struct sim_report *r, uint64_t seed,
                     const bide_policy_conf *conf, double rate, int *agree)
{
    struct sim_model_service service = servers;
    struct sim_fault fault = stop;
    struct sim_model_policy policy = { .name = (char[]){ "p" }, .conf = *conf };
    struct sim_model_fleet fleet = {
        .name = (char[]){ "web" }, .clients = 1, .processes = 1, .rate = rate
    };
    struct sim_model m = { .duration_ns = END_S * BIDE_SECOND,
                           .policies = &policy,
                           .n_policies = 1,
                           .fleets = &fleet,
                           .n_fleets = 1,
                           .services = &service,
                           .n_services = 1,
                           .faults = &fault,
                           .n_faults = 1 };
    struct sim_run_conf run_conf = { .steps = END_S };
    struct sim_result *run = sim_run_judged(&m, SIM_NONE, seed, &run_conf);
    bool well = last_minute(run) > 0.95;
    *agree += run->figure[SIM_FIG_STUCK] == (well ? 0 : 1);
    r->events += run->events;
    sim_result_free(run);
    return well;
}

static void count(struct sim_report *r, const bide_policy_conf *conf,
                  double rate, int expected, const char *how)
{
    int n = 0, agree = 0;
    for (uint64_t i = 0; i < SEEDS; i++)
        n += recovers(r, r->seed * SEEDS + i, conf, rate, &agree);
    sim_expect(r, SIM_NEAR, expected, n, 0, "of %d runs recover, %g/s, %s",
               SEEDS, rate, how);
    sim_expect(r, SIM_NEAR, SEEDS, agree, 0, "of %d runs the figure says so",
               SEEDS);
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
