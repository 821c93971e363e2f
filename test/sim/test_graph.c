/* test_graph.c: services that call services. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bed.h"

/* The fleet and two services retry, four attempts each; the last of three
 * services always fails. */
static double deepest(bide_nested nested)
{
    struct bed bed;
    bed_init(&bed);
    bed_chain(&bed, 3);
    bed.model.duration_ns = 100 * BIDE_SECOND;
    bed.fleets[0].rate = 1;
    bed.fleets[0].until_ns = 50 * BIDE_SECOND;
    bed.policies[0].conf = sim_bare_policy(4);
    bed.policies[0].conf.nested = nested;
    bed.policies[0].conf.backoff.cap_ns = 100 * BIDE_MILLISECOND;
    bed.services[2].error_rate = 1;
    struct sim_result *r = bed_run(&bed);
    double attempts = r->figure[SIM_FIG_DEEPEST];
    assert_string_equal(r->callers[2].name, "b > c");
    assert_int_equal(r->callers[0].total.calls, 49);
    sim_result_free(r);
    return attempts;
}

static void retries_multiply_unless_one_layer_owns_them(void **state)
{
    (void)state;
    assert_true(deepest(BIDE_NESTED_RETRY) == 64);
    assert_true(deepest(BIDE_NESTED_PASS) == 4);
}

/* The same chain with a fleet that makes one attempt, and so claims nothing: the
 * first service owns the retries, the second passes its claim on. */
static void layer_that_would_not_retry_forbids_none(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed_chain(&bed, 3);
    bed.model.n_policies = 2;
    bed.model.duration_ns = 100 * BIDE_SECOND;
    bed.fleets[0].rate = 1;
    bed.fleets[0].until_ns = 50 * BIDE_SECOND;
    bed.policies[1].conf = sim_bare_policy(4);
    bed.policies[1].conf.backoff.cap_ns = 100 * BIDE_MILLISECOND;
    bed.edges[0].policy = bed.edges[1].policy = 1;
    bed.services[2].error_rate = 1;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->services[0].arrived, 49);
    assert_int_equal(r->services[1].arrived, 4 * 49);
    assert_int_equal(r->services[2].arrived, 4 * 49);
    sim_result_free(r);
}

/* Three calls below one after the other: 10 ms of its own, 3 x 10 ms below. */
static void edge_is_called_so_many_times(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed_chain(&bed, 2);
    bed.edges[0].times = 3;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->services[1].arrived, 3 * 99);
    assert_true(r->callers[0].latency.sum_ns == 99 * 40e6);
    sim_result_free(r);
}

/* One worker, 10 ms of its own work and 150 ms below, ten a second. */
static struct sim_result *hold(bool detached)
{
    struct bed bed;
    bed_init(&bed);
    bed_chain(&bed, 2);
    bed.services[0].workers = 1;
    bed.services[0].detached = detached;
    bed.services[1].time = sim_constant(150 * BIDE_MILLISECOND);
    return bed_run(&bed);
}

static void worker_is_held_unless_detached(void **state)
{
    struct sim_result *held = hold(false), *detached = hold(true);
    (void)state;
    /* one in 160 ms, and everybody waits longer and longer */
    assert_in_range(held->services[1].arrived, 61, 63);
    assert_true(held->callers[0].total.timeouts > 50);
    assert_int_equal(detached->callers[0].total.failures, 0);
    assert_true(detached->callers[0].latency.sum_ns ==
                160e6 * (double)detached->callers[0].total.successes);
    sim_result_free(held);
    sim_result_free(detached);
}

/* A breaker below is open: the layer above sees "do not retry". */
static void refusal_below_is_final_above(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed_chain(&bed, 2);
    bed.model.n_policies = 2;
    bed.policies[0].conf.attempts = 4;
    bed.edges[0].policy = 1;
    bed.policies[1].conf.breaker.kind = BIDE_BREAKER_TIME;
    bed.policies[1].conf.breaker.mode = BIDE_BREAKER_FORCED_OPEN;
    struct sim_result *r = bed_run(&bed);
    const struct sim_caller_totals *t = &r->callers[0].total;
    assert_int_equal(t->by_reason[BIDE_BECAUSE_SERVER_REFUSED], 99);
    assert_int_equal(t->attempts, 99);
    assert_int_equal(r->callers[1].total.by_reason[BIDE_BECAUSE_BREAKER_OPEN],
                     99);
    assert_int_equal(r->services[1].arrived, 0);
    sim_result_free(r);
}

/* The client has 300 ms in all; 200 of them are gone before the call below. */
static void deadline_is_passed_down(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed_chain(&bed, 2);
    bed.model.n_policies = 2;
    bed.edges[0].policy = 1;
    bed.policies[0].conf.deadline_ns = 300 * BIDE_MILLISECOND;
    bed.policies[1].conf.attempt_timeout_ns = BIDE_SECOND;
    bed.services[0].time = sim_constant(200 * BIDE_MILLISECOND);
    bed.services[1].time = sim_constant(500 * BIDE_MILLISECOND);
    struct sim_result *r = bed_run(&bed);
    const struct sim_caller_result *edge = &r->callers[1];
    assert_int_equal(edge->total.timeouts, edge->total.failures);
    assert_true(edge->total.timeouts > 90);
    /* which is less than the policy below would give it */
    assert_int_equal(edge->total.by_reason[BIDE_BECAUSE_CLIENT_TIMEOUT],
                     edge->total.failures);
    /* given up 100 ms after it was sent, and so at most one in progress */
    assert_true(r->callers[1].value[SIM_IN_PROGRESS][200] <= 1);
    sim_result_free(r);
}

/* A user's call that is retried at the top is done twice at the bottom, unless
 * its key goes down with it. */
static struct sim_result *charge(enum sim_repeat fleet, enum sim_repeat edge)
{
    struct bed bed;
    bed_init(&bed);
    bed_chain(&bed, 2);
    bed.policies[0].conf.attempts = 3;
    bed.policies[0].conf.attempt_timeout_ns = 100 * BIDE_MILLISECOND;
    bed.fleets[0].repeat = fleet;
    bed.edges[0].repeat = edge;
    bed.services[0].lost_rate = 0.3;
    bed.services[1].keys = true;
    return bed_run(&bed);
}

static void key_goes_down_with_the_call(void **state)
{
    struct sim_result *plain = charge(SIM_IDEMPOTENT, SIM_IDEMPOTENT);
    struct sim_result *below = charge(SIM_IDEMPOTENT, SIM_KEYED);
    struct sim_result *both = charge(SIM_KEYED, SIM_KEYED);
    (void)state;
    assert_true(plain->services[1].duplicates > 15);
    /* a key made below is a new one for each attempt above */
    assert_int_equal(below->services[1].duplicates,
                     plain->services[1].duplicates);
    assert_int_equal(both->services[1].duplicates, 0);
    sim_result_free(plain);
    sim_result_free(below);
    sim_result_free(both);
}

/* A client that goes away takes the whole chain's work with it, where services
 * learn of it. */
static void cancelling_goes_all_the_way_down(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed_chain(&bed, 3);
    bed.policies[0].conf.attempt_timeout_ns = BIDE_SECOND;
    bed.policies[0].conf.deadline_ns = 100 * BIDE_MILLISECOND;
    for (int i = 0; i < 3; i++)
        bed.services[i].cancels = true;
    bed.services[2].time = sim_constant(5 * BIDE_SECOND);
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->services[2].served + r->services[2].wasted, 0);
    assert_int_equal(r->services[2].dropped + r->services[2].left,
                     r->services[2].arrived);
    assert_true(r->services[2].arrived > 90);
    assert_true(r->services[2].left <= 1);
    sim_result_free(r);
}

/* A crash in the middle of the chain: what runs below for it is given up. */
static void crash_gives_up_what_runs_below(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed_chain(&bed, 2);
    bed.services[1].time = sim_constant(500 * BIDE_MILLISECOND);
    bed.model.n_faults = 1;
    bed.faults[0].kind = SIM_CRASH;
    struct sim_result *r = bed_run(&bed);
    const struct sim_caller_totals *edge = &r->callers[1].total;
    assert_int_equal(edge->by_reason[BIDE_BECAUSE_CANCELLED], 5);
    assert_int_equal(r->services[0].broken, 25);
    assert_int_equal(r->services[1].wasted, 5);
    sim_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retries_multiply_unless_one_layer_owns_them),
        cmocka_unit_test(layer_that_would_not_retry_forbids_none),
        cmocka_unit_test(edge_is_called_so_many_times),
        cmocka_unit_test(worker_is_held_unless_detached),
        cmocka_unit_test(refusal_below_is_final_above),
        cmocka_unit_test(deadline_is_passed_down),
        cmocka_unit_test(key_goes_down_with_the_call),
        cmocka_unit_test(cancelling_goes_all_the_way_down),
        cmocka_unit_test(crash_gives_up_what_runs_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
