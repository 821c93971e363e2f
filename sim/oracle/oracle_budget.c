/* Rows 7 to 10: what budgets and throttling let through. */
#include <stddef.h>

#include "sim/oracle/budget.h"
#include "sim/oracle/harness.h"
#include "sim/oracle/oracle.h"

/* ===== row 7: adaptive throttling ===== */

/* Ten workers, 100 ms each, are a capacity of 100/s; ten times that is offered,
 * and the excess is refused. */
static void throttle(struct sim_report *r, double k)
{
    enum { FROM_S = 600, TO_S = 1500 };
    struct sim_harness harness = SIM_HARNESS_INIT;
    bide_policy_conf conf = sim_bare_policy(1);
    conf.limits.adaptive_throttle = true;
    conf.limits.throttle_k = k;
    harness.service.conf.workers = 10;
    harness.service.conf.queue = 10;
    harness.service.conf.time = sim_constant(100 * BIDE_MILLISECOND);
    harness.fleet.gap = sim_exponential(1e6);
    sim_harness_start(&harness, r->seed, &conf, 1);
    sim_world_run(&harness.world, FROM_S * BIDE_SECOND);
    uint64_t before = harness.service.arrived;
    sim_world_run(&harness.world, TO_S * BIDE_SECOND);
    double seen = (double)(harness.service.arrived - before) / (TO_S - FROM_S);
    sim_expect(r, SIM_NEAR, k, seen / 100, 0.02 * k,
               "load at the backend, of its capacity, K = %g", k);
    r->events += harness.world.events;
    sim_harness_done(&harness);
}

void sim_oracle_throttle(struct sim_report *r)
{
    throttle(r, 2);
    throttle(r, 1.5);
}

/* ===== row 8: gRPC ===== */

void sim_oracle_grpc(struct sim_report *r)
{
    enum { DEPS = 100 };
    struct sim_harness harness = SIM_HARNESS_INIT;
    bide_policy_conf conf = sim_bare_policy(5);
    conf.budget.kind = BIDE_BUDGET_THROTTLE;
    conf.budget.max_tokens = 10;
    conf.budget.token_ratio = 0.1;
    harness.service.conf.error_rate = 1;
    harness.service.conf.time = sim_exponential(10e6);
    harness.fleet.clients = DEPS;
    harness.fleet.gap = sim_exponential(1e6);
    harness.fleet.most_calls = 100 * DEPS;
    sim_harness_start(&harness, r->seed, &conf, DEPS);
    sim_world_run(&harness.world, INT64_MAX);
    const struct sim_metrics *m = &harness.caller.metrics;
    sim_expect(r, SIM_NEAR, 4,
               (double)(m->total.attempts - m->total.calls) / DEPS, 0,
               "retries per dependency, of 100 calls each");
    r->events += harness.world.events;
    sim_harness_done(&harness);
}

/* ===== row 9: no budget is overdrawn ===== */

enum { CLIENTS = 4 };

/* A budget: so many retries at once, and so many more for what was deposited. */
struct bounds {
    const char *name;
    double burst;
    double per_second;
    double per_first_success, per_late_success;
};

/* The state of each dependency relative to them. */
struct audit {
    const struct bounds *bounds;
    const struct sim_caller *caller;
    uint64_t retries[CLIENTS];
    double worst; /* retries over the bound; 0 or less is fine */
};

/* Checked at every retry, as it is sent. */
static void look(void *self, struct sim_world *w, bide_dep *dep,
                 const bide_decision *d)
{
    struct audit *a = self;
    const struct bounds *b = a->bounds;
    if (d->attempt == 1)
        return;
    bide_stats s;
    bide_dep_stats(dep, w->now_ns, &s);
    for (int i = 0; i < CLIENTS; i++) {
        if (a->caller->deps[i] != dep)
            continue;
        double most = b->burst + b->per_second * (double)w->now_ns / 1e9 +
                      b->per_first_success * (double)s.first_successes +
                      b->per_late_success * (double)s.late_successes;
        double over = (double)++a->retries[i] - most;
        if (over > a->worst)
            a->worst = over;
    }
}

/* A service that fails completely, a little, half and not at all. It begins
 * with an outage: the buckets are full then and nothing has overflowed, so the
 * bound is as tight as it ever gets. */
static void audit_budget(struct sim_report *r, const bide_policy_conf *conf,
                         const struct bounds *bounds)
{
#define FAIL(from_s, to_s, rate)                                               \
    {                                                                          \
        .kind = SIM_FAIL, .shard = SIM_NONE, .fleet = SIM_NONE,                \
        .from_ns = (from_s)*BIDE_SECOND, .to_ns = (to_s)*BIDE_SECOND,          \
        .factor = (rate)                                                       \
    }
    static const struct sim_fault flaps[] = {
        FAIL(0, 5, 1.0),   FAIL(15, 25, 1.0), FAIL(40, 55, 0.5),
        FAIL(70, 80, 0.0), FAIL(90, 92, 1.0),
    };
#undef FAIL
    struct sim_harness harness = SIM_HARNESS_INIT;
    struct audit audit = { .bounds = bounds,
                           .caller = &harness.caller,
                           .worst = -1e9 };
    harness.caller.self = &audit;
    harness.caller.on_try = look;
    harness.service.conf.error_rate = 0.05;
    harness.service.conf.time = sim_exponential(20e6);
    harness.service.faults = flaps;
    harness.service.n_faults = sizeof flaps / sizeof flaps[0];
    harness.fleet.clients = CLIENTS;
    harness.fleet.gap = sim_exponential(1e6);
    sim_harness_start(&harness, r->seed, conf, CLIENTS);
    sim_world_run(&harness.world, 120 * BIDE_SECOND);
    sim_expect(r, SIM_AT_MOST, 0, audit.worst, 0,
               "retries over the bound, at worst: %s", bounds->name);
    r->events += harness.world.events;
    sim_harness_done(&harness);
}

void sim_oracle_invariant(struct sim_report *r)
{
    bide_policy_conf conf = sim_bare_policy(4);
    bide_budget_conf *b = &conf.budget;

    b->kind = BIDE_BUDGET_WINDOW;
    conf.budget.ratio = 0.1;
    audit_budget(r, &conf, &(struct bounds){ "window", 10, 1, 0.1, 0 });
    b->floor_per_s = 0;
    audit_budget(r, &conf,
                 &(struct bounds){ "window, no floor", 0, 0, 0.1, 0 });
    b->kind = BIDE_BUDGET_THROTTLE;
    audit_budget(r, &conf, &(struct bounds){ "throttle", 5, 0, 0.1, 0.1 });

    /* A retry that succeeds returns its cost, those before it do not. */
    b->kind = BIDE_BUDGET_QUOTA;
    audit_budget(r, &conf, &(struct bounds){ "quota", 100, 0, 0.2, 1 });
}

/* ===== row 10: retries that wait count ===== */

void sim_oracle_in_flight(struct sim_report *r)
{
    struct sim_harness harness = SIM_HARNESS_INIT;
    bide_policy_conf conf = sim_bare_policy(2);
    conf.budget.kind = BIDE_BUDGET_IN_FLIGHT;
    conf.budget.ratio = 0.2;
    harness.service.conf.error_rate = 1;
    harness.service.conf.time = sim_constant(BIDE_SECOND);
    harness.fleet.gap = sim_constant(0);
    harness.fleet.most_calls = 1000;
    sim_harness_start(&harness, r->seed, &conf, 1);
    sim_world_run(&harness.world, INT64_MAX);
    const struct sim_metrics *m = &harness.caller.metrics;
    double retries = (double)(m->total.attempts - m->total.calls);
    sim_expect(r, SIM_AT_MOST, 250, retries, 0, "retries that go out");
    sim_expect(r, SIM_NEAR, 200, retries, 0,
               "retries granted, 20 %% of the calls there are");
    r->events += harness.world.events;
    sim_harness_done(&harness);
}
