/* test_plain.c: the short way of the usual call (lib/plain.h) and the long way
 * leave the same behind, byte for byte.
 *
 * Two dependencies of one policy go through the same random walk. In the one,
 * the policy is plain; in the other, it was told that it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "walk.h"

static uint32_t draw(void *state, uint32_t n)
{
    return (uint32_t)bide_rng_between(state, 0, (int64_t)n - 1);
}

static void same(const void *a, const void *b, size_t size, const char *what)
{
    if (memcmp(a, b, size) != 0)
        fail_msg("%s differs", what);
}

/* One lane: which one is used depends on the processor. */
static bide_policy_conf plain_conf(struct walk *w)
{
    bide_policy_conf conf = walk_conf(w);
    bide_policy_conf plain = BIDE_POLICY_CONF_INIT;

    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.deposit = BIDE_DEPOSIT_SUCCESS;
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.consecutive = 0;
    conf.hedge = plain.hedge;
    conf.limits = plain.limits;
    conf.lanes = 1;
    return conf;
}

static void compare(const struct walk *a, const struct walk *b)
{
    bide_stats s, t;

    assert_int_equal(a->last.action, b->last.action);
    assert_int_equal(a->last.reason, b->last.reason);
    assert_int_equal(a->last.attempt, b->last.attempt);
    assert_true(a->last.timeout_ns == b->last.timeout_ns);
    assert_true(a->last.at_ns == b->last.at_ns);
    same(&a->dep->lanes[0], &b->dep->lanes[0], sizeof(struct bide__lane),
         "the lane");
    if (a->dep->latency)
        same(&a->dep->latency[0], &b->dep->latency[0],
             sizeof(struct bide__latency), "the latency");
    same(&a->dep->breaker.control, &b->dep->breaker.control, sizeof(uint64_t),
         "the breaker");
    same(&a->dep->budget, &b->dep->budget, sizeof a->dep->budget, "the budget");
    same(&a->dep->draws, &b->dep->draws, sizeof a->dep->draws, "the draws");
    same(&a->dep->counters, &b->dep->counters, sizeof a->dep->counters,
         "the counters");
    bide_dep_stats(a->dep, a->now, &s);
    bide_dep_stats(b->dep, b->now, &t);
    same(&s, &t, sizeof s, "the statistics");
    assert_int_equal(bide_dep_budget_left(a->dep, a->now),
                     bide_dep_budget_left(b->dep, b->now));
    assert_int_equal(bide_dep_latency(a->dep, 0.9, a->now),
                     bide_dep_latency(b->dep, 0.9, b->now));
}

/* Counts the first attempts that went the short way, so that the test cannot
 * pass by never going it. */
static void walk_both_ways(uint64_t seed, int steps, uint64_t *ret_successes)
{
    bide_rng_seeded mem_a, mem_b;
    bide_rng rng_a = bide_rng_seed(&mem_a, seed);
    bide_rng rng_b = bide_rng_seed(&mem_b, seed);
    struct walk a = { .pick = draw, .state = &rng_a };
    struct walk b = { .pick = draw, .state = &rng_b };
    bide_policy_conf conf = plain_conf(&a);
    bide_stats s;

    plain_conf(&b); /* the same choices */
    walk_start(&a, &conf);
    walk_start(&b, &conf);
    assert_true(a.dep->policy.plain);
    b.dep->policy.plain = false;
    for (int i = 0; i < steps; i++) {
        walk_step(&a);
        walk_step(&b);
        if (i % 16 == 0)
            compare(&a, &b);
    }
    walk_finish(&a);
    walk_finish(&b);
    compare(&a, &b);
    bide_dep_stats(a.dep, a.now, &s);
    *ret_successes += s.first_successes;
    bide_dep_free(a.dep);
    bide_dep_free(b.dep);
}

static void plain_and_long_way_leave_the_same(void **state)
{
    int rounds = getenv("BIDE_TEST_VALGRIND") ? 10 : 400;
    uint64_t successes = 0;

    (void)state;
    for (int i = 0; i < rounds; i++)
        walk_both_ways((uint64_t)i, 1000, &successes);
    assert_true(successes > (uint64_t)rounds * 10);
}

static const bide_outcome worked = { .cls = BIDE_SUCCESS };
static const bide_outcome failed = { .cls = BIDE_TRANSIENT };

/* A first attempt that was reported is over, whatever its number's fame. */
static void plain_report_of_an_earlier_attempt_is_refused(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_op op = { .idempotent = true };
    bide_dep *dep;
    bide_call call;
    bide_decision d;

    (void)state;
    assert_int_equal(bide_dep_new(&dep, "plain", &conf), 0);
    assert_true(dep->policy.plain);
    bide_call_begin(&call, dep, &op, 0);
    bide_call_next(&call, 0);
    bide_call_report(&call, 1, &failed, 0);
    d = bide_call_next(&call, 0);
    if (d.action == BIDE_WAIT)
        d = bide_call_next(&call, d.at_ns);
    assert_int_equal(d.attempt, 2);
    assert_int_equal(bide_call_report(&call, 1, &worked, 0), BIDE_ESTATE);
    assert_int_equal(bide_call_next(&call, 0).reason, BIDE_BECAUSE_RUNNING);
    assert_int_equal(bide_call_report(&call, 2, &worked, 0), 0);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

/* Begins a call and makes its first attempt. */
static void begin_first(bide_call *call, bide_dep *dep, int64_t now)
{
    bide_call_begin(call, dep, NULL, now);
    assert_int_equal(bide_call_next(call, now).action, BIDE_TRY);
}

static void one_call(bide_dep *dep, const bide_outcome *out, int64_t now)
{
    bide_call call;

    begin_first(&call, dep, now);
    bide_call_report(&call, 1, out, now);
    bide_call_end(&call, now);
}

/* The breaker opened and closed while the attempt ran: its result is of an
 * earlier time, and says nothing about this one. */
static void plain_success_of_an_earlier_time_is_late(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    (void)state;
    conf.breaker.min_calls = 2;
    conf.breaker.probes = 1;
    for (int plain = 0; plain <= 1; plain++) {
        bide_dep *dep;
        bide_call slow;
        bide_stats s;
        uint64_t succeeded = 0;

        assert_int_equal(bide_dep_new(&dep, "plain", &conf), 0);
        dep->policy.plain = plain;
        begin_first(&slow, dep, 0);
        one_call(dep, &failed, 0);
        one_call(dep, &failed, 0);
        assert_int_equal(bide_dep_breaker(dep, 0), BIDE_BREAKER_OPEN);
        one_call(dep, &worked, 60 * BIDE_SECOND);
        assert_int_equal(bide_dep_breaker(dep, 60 * BIDE_SECOND),
                         BIDE_BREAKER_CLOSED);
        bide_call_report(&slow, 1, &worked, 60 * BIDE_SECOND);
        bide_call_end(&slow, 60 * BIDE_SECOND);
        bide_dep_stats(dep, 60 * BIDE_SECOND, &s);
        assert_int_equal(s.late_reports, 1);
        assert_int_equal(s.first_successes, 2);
        for (uint32_t i = 0; i < dep->policy.conf.lanes; i++)
            for (int j = 0; j < BIDE__SLOTS; j++)
                succeeded += dep->lanes[i].succeeded.slot[j] & BIDE__COUNT_MAX;
        assert_int_equal(succeeded, 0); /* probes and late ones do not count */
        bide_dep_free(dep);
    }
}

/* Each thing that is not plain, in the policy: the short way is not open. */
static void plain_is_only_what_asks_for_nothing_else(void **state)
{
    bide_policy_conf odd[9];
    bide_dep *dep;

    (void)state;
    for (size_t i = 0; i < 9; i++)
        odd[i] = (bide_policy_conf)BIDE_POLICY_CONF_INIT;
    odd[1].breaker.kind = BIDE_BREAKER_COUNT;
    odd[2].breaker.kind = BIDE_BREAKER_OFF;
    odd[3].breaker.consecutive = 5;
    odd[4].budget.kind = BIDE_BUDGET_OFF;
    odd[5].budget.deposit = BIDE_DEPOSIT_CALL;
    odd[6].limits.in_flight = 100;
    odd[7].limits.adaptive_rate = true;
    odd[8].limits.adaptive_throttle = true;
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(bide_dep_new(&dep, "odd", &odd[i]), 0);
        assert_int_equal(dep->policy.plain, i == 0);
        bide_dep_free(dep);
    }
    odd[0].attempts = 1;
    odd[0].hedge.max = 1;
    assert_int_equal(bide_dep_new(&dep, "odd", &odd[0]), 0);
    assert_false(dep->policy.plain);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_long_way_leave_the_same),
        cmocka_unit_test(plain_report_of_an_earlier_attempt_is_refused),
        cmocka_unit_test(plain_success_of_an_earlier_time_is_late),
        cmocka_unit_test(plain_is_only_what_asks_for_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
