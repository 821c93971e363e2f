/* test_model.c: the parts of the model, each in a case small enough to work out
 * by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/oracle/harness.h"

/* Three calls at 0, 100 and 200 ms, unless the test says otherwise. */
static struct sim_harness small(void)
{
    struct sim_harness harness = SIM_HARNESS_INIT;
    harness.fleet.gap = sim_constant(100 * BIDE_MILLISECOND);
    harness.fleet.most_calls = 3;
    return harness;
}

static void service_full_queue_refuses(void **state)
{
    struct sim_harness harness = small();
    bide_policy_conf conf = sim_bare_policy(1);
    (void)state;
    harness.service.conf.workers = 1;
    harness.service.conf.queue = 1;
    harness.service.conf.time = sim_constant(BIDE_SECOND);
    sim_harness_start(&harness, 1, &conf, 1);
    sim_world_run(&harness.world, INT64_MAX);
    assert_int_equal(harness.service.arrived, 3);
    assert_int_equal(harness.service.waited, 1);
    assert_int_equal(harness.service.refused, 1);
    assert_int_equal(harness.caller.metrics.total.successes, 2);
    assert_int_equal(
        harness.caller.metrics.total.by_reason[BIDE_BECAUSE_ATTEMPTS], 1);
    /* 1 s for the first, and 1.9 s for the second, which waited */
    assert_true(harness.caller.metrics.latency.sum_ns == 2.9e9);
    sim_harness_done(&harness);
}

static void timeout_leaves_work_behind(void **state)
{
    struct sim_harness harness = small();
    bide_policy_conf conf = sim_bare_policy(1);
    (void)state;
    conf.attempt_timeout_ns = BIDE_SECOND;
    harness.service.conf.workers = 1;
    harness.service.conf.time = sim_constant(800 * BIDE_MILLISECOND);
    sim_harness_start(&harness, 1, &conf, 1);
    sim_world_run(&harness.world, INT64_MAX);
    assert_int_equal(harness.caller.metrics.total.successes, 1);
    assert_int_equal(harness.caller.metrics.total.timeouts, 2);
    assert_int_equal(harness.service.served + harness.service.wasted, 3);
    assert_int_equal(harness.caller.metrics.in_progress, 0);
    sim_harness_done(&harness);
}

static void deadline_cuts_the_attempt_short(void **state)
{
    struct sim_harness harness = small();
    bide_policy_conf conf = sim_bare_policy(4);
    (void)state;
    conf.deadline_ns = 300 * BIDE_MILLISECOND;
    harness.service.conf.time = sim_constant(BIDE_SECOND);
    sim_harness_start(&harness, 1, &conf, 1);
    sim_world_run(&harness.world, 650 * BIDE_MILLISECOND);
    assert_int_equal(harness.caller.metrics.total.timeouts, 3);
    assert_int_equal(
        harness.caller.metrics.total.by_reason[BIDE_BECAUSE_DEADLINE], 3);
    sim_harness_done(&harness);
}

static void stop_holds_work_until_it_is_over(void **state)
{
    static const struct sim_fault stop = { .kind = SIM_STOP,
                                           .shard = SIM_NONE,
                                           .from_ns = 150 * BIDE_MILLISECOND,
                                           .to_ns = 5 * BIDE_SECOND };
    struct sim_harness harness = small();
    bide_policy_conf conf = sim_bare_policy(1);
    (void)state;
    harness.service.faults = &stop;
    harness.service.n_faults = 1;
    harness.service.conf.time = sim_constant(100 * BIDE_MILLISECOND);
    sim_harness_start(&harness, 1, &conf, 1);
    sim_world_run(&harness.world, INT64_MAX);
    assert_int_equal(harness.caller.metrics.total.successes, 3);
    /* at 100 ms: 0.1 s; at 200 and 300 ms: until 5.1 s */
    assert_true(harness.caller.metrics.latency.sum_ns == 0.1e9 + 4.9e9 + 4.8e9);
    sim_harness_done(&harness);
}

static void slow_stretches_the_work(void **state)
{
    static const struct sim_fault slow = {
        .kind = SIM_SLOW, .shard = SIM_NONE, .to_ns = BIDE_SECOND, .factor = 3
    };
    struct sim_harness harness = small();
    bide_policy_conf conf = sim_bare_policy(1);
    (void)state;
    harness.service.faults = &slow;
    harness.service.n_faults = 1;
    harness.service.conf.time = sim_constant(10 * BIDE_MILLISECOND);
    sim_harness_start(&harness, 1, &conf, 1);
    sim_world_run(&harness.world, INT64_MAX);
    assert_true(harness.caller.metrics.latency.sum_ns == 0.09e9);
    sim_harness_done(&harness);
}

static void fleet_closed_has_one_call_each(void **state)
{
    struct sim_harness harness = SIM_HARNESS_INIT;
    bide_policy_conf conf = sim_bare_policy(1);
    (void)state;
    harness.fleet.arrival = SIM_CLOSED;
    harness.fleet.clients = 10;
    harness.fleet.gap = sim_constant(400 * BIDE_MILLISECOND);
    harness.service.conf.time = sim_constant(600 * BIDE_MILLISECOND);
    sim_harness_start(&harness, 1, &conf, 1);
    sim_world_run(&harness.world, 10 * BIDE_SECOND);
    assert_int_equal(harness.caller.metrics.total.calls, 100);
    assert_true(harness.caller.metrics.in_progress <= 10);
    sim_harness_done(&harness);
}

/* What the engine counts is what was seen from outside. */
static void engine_counts_what_the_caller_saw(void **state)
{
    struct sim_harness harness = SIM_HARNESS_INIT;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_stats s;
    (void)state;
    harness.fleet.gap = sim_exponential(1e6);
    harness.fleet.most_calls = 20000;
    harness.service.conf.time = sim_lognormal(5e6, 1);
    harness.service.conf.error_rate = 0.2;
    sim_harness_start(&harness, 1, &conf, 1);
    sim_world_run(&harness.world, INT64_MAX);
    const struct sim_metrics *m = &harness.caller.metrics;
    bide_dep_stats(harness.caller.deps[0], harness.world.now_ns, &s);
    assert_int_equal(s.calls, m->total.calls);
    assert_int_equal(s.attempts, m->total.attempts);
    assert_int_equal(s.first_successes + s.late_successes, m->total.successes);
    assert_int_equal(s.failures, m->total.failures);
    sim_harness_done(&harness);
}

/* Two policies meet the same luck: the first attempts are all alike. */
static void luck_does_not_depend_on_the_policy(void **state)
{
    uint64_t first[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct sim_harness harness = SIM_HARNESS_INIT;
        bide_policy_conf conf = sim_bare_policy(i ? 4 : 1);
        bide_stats s;
        harness.fleet.gap = sim_exponential(1e6);
        harness.fleet.clients = 100;
        harness.fleet.most_calls = 5000;
        harness.service.conf.time = sim_exponential(5e6);
        harness.service.conf.error_rate = 0.3;
        sim_harness_start(&harness, 1, &conf, 1);
        sim_world_run(&harness.world, INT64_MAX);
        bide_dep_stats(harness.caller.deps[0], harness.world.now_ns, &s);
        first[i] = s.first_successes;
        sim_harness_done(&harness);
    }
    assert_int_equal(first[0], first[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(service_full_queue_refuses),
        cmocka_unit_test(timeout_leaves_work_behind),
        cmocka_unit_test(deadline_cuts_the_attempt_short),
        cmocka_unit_test(stop_holds_work_until_it_is_over),
        cmocka_unit_test(slow_stretches_the_work),
        cmocka_unit_test(fleet_closed_has_one_call_each),
        cmocka_unit_test(engine_counts_what_the_caller_saw),
        cmocka_unit_test(luck_does_not_depend_on_the_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
