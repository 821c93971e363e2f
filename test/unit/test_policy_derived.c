/* test_policy_derived.c: what is worked out from the numbers, once. */
#include "fixture.h"
#include "lib/policy.h"
#include "lib/budget/spend.h"
#include "lib/window.h"

static void policy_shares_become_exact_millionths(void **state)
{
    (void)state;
    for (int i = 0; i <= 10000; i++)
        assert_int_equal(bide__millionths(i / 10000.0), i * 100);
    assert_int_equal(bide__millionths(0.29), 290000);
    assert_int_equal(bide__millionths(0.0157), 15700); /* 15699.99... */
    assert_int_equal(bide__millionths(0), 0);
    assert_int_equal(bide__millionths(1e-9), 0);
}

static void policy_init_works_out_the_rest(void **state)
{
    bide_policy_conf conf = defaults();
    struct bide__policy p;

    (void)state;
    conf.budget.ratio = 0.1;
    conf.budget.floor_per_s = 0.3;
    conf.budget.max_tokens = 7.5;
    conf.budget.token_ratio = 0.001;
    conf.breaker.failure_rate = 0.29;
    conf.breaker.slow_rate = 0.07;
    conf.breaker.probe_failure_rate = 0.34;
    conf.hedge.extra_load = 0.015;
    conf.limits.throttle_k = 1.1;
    bide__policy_init(&p, &conf);
    assert_int_equal(p.budget_floor, 3 * BIDE__MILLION);
    assert_int_equal(p.budget_ratio, 100000);
    assert_int_equal(p.max_tokens, 7500000);
    assert_int_equal(p.token_ratio, 1000);
    assert_int_equal(p.failure_rate, 290000);
    assert_int_equal(p.slow_rate, 70000);
    assert_int_equal(p.probe_rate, 340000);
    assert_int_equal(p.extra_load, 15000);
    assert_int_equal(p.throttle_k, 1100000);
    assert_int_equal(p.max_attempts, 4);
    assert_int_equal(p.probe_ns, 10 * BIDE_SECOND);
    assert_memory_equal(&p.conf, &conf, sizeof conf);
}

static void policy_windows_are_cut_into_ticks(void **state)
{
    bide_policy_conf conf = defaults();
    struct bide__policy p;

    (void)state;
    conf.budget.window_ns = 16 * BIDE_SECOND;
    conf.breaker.window_ns = 32 * BIDE_SECOND;
    conf.latency.window_ns = 30 * BIDE_SECOND;
    conf.limits.throttle_window_ns = 64 * BIDE_SECOND;
    bide__policy_init(&p, &conf);
#define TICK(member) bide__tick(p.member, 320 * BIDE_SECOND)
    assert_int_equal(BIDE__SLOTS, 16);
    assert_int_equal(TICK(deposit_ticks), 320);
    assert_int_equal(TICK(breaker_ticks), 160);
    assert_int_equal(TICK(latency_ticks), 320 / 15);
    assert_int_equal(TICK(throttle_ticks), 80);
    assert_int_equal(TICK(hedge_ticks), 320 * 16 / 60);
    assert_int_equal(TICK(spend_ticks),
                     320 * BIDE_SECOND / bide__spend_tick_ns(16 * BIDE_SECOND));
    assert_int_equal(TICK(hedge_spend_ticks),
                     320 * BIDE_SECOND / bide__spend_tick_ns(BIDE_MINUTE));
#undef TICK
}

static void policy_largest_numbers_do_not_overflow(void **state)
{
    bide_policy_conf conf = defaults();
    struct bide__policy p;

    (void)state;
    conf.budget.floor_per_s = 1e6;
    conf.budget.window_ns = BIDE_HOUR;
    conf.budget.max_tokens = conf.budget.token_ratio = 1000;
    conf.limits.throttle_k = 100;
    conf.attempt_timeout_ns = BIDE_FOREVER;
    assert_int_equal(bide_policy_check(&conf), 0);
    bide__policy_init(&p, &conf);
    assert_int_equal(p.budget_floor, INT64_C(3600000000) * BIDE__MILLION);
    assert_int_equal(p.max_tokens, 1000 * BIDE__MILLION);
    assert_int_equal(p.throttle_k, 100 * BIDE__MILLION);
    /* a probe without a timeout must not wedge the breaker */
    assert_int_equal(p.probe_ns, conf.breaker.open_max_ns);
    conf.attempts = 1;
    conf.hedge.max = 4;
    bide__policy_init(&p, &conf);
    assert_int_equal(p.max_attempts, 5);
}

static void policy_throttled_base_is_the_base_unless_set(void **state)
{
    bide_policy_conf conf = defaults();
    bide_backoff b = bide_policy_backoff(&conf, BIDE_AFTER_THROTTLED);

    (void)state;
    assert_int_equal(b.base_ns, conf.backoff.base_ns);
    conf.backoff_throttled.base_ns = 0; /* zero means zero */
    b = bide_policy_backoff(&conf, BIDE_AFTER_THROTTLED);
    assert_int_equal(b.base_ns, 0);
    conf.backoff_throttled.base_ns = BIDE_SECOND;
    b = bide_policy_backoff(&conf, BIDE_AFTER_THROTTLED);
    assert_int_equal(b.base_ns, BIDE_SECOND);
    assert_int_equal(b.cap_ns, conf.backoff.cap_ns);
    b = bide_policy_backoff(&conf, BIDE_AFTER_FAILURE);
    assert_int_equal(b.base_ns, conf.backoff.base_ns);
}

/* The short way is only for policies that ask for nothing beyond the usual. */
static void policy_plain_is_nothing_beyond_the_usual(void **state)
{
    bide_policy_conf conf = defaults();
    struct bide__policy p;

    (void)state;
    bide__policy_init(&p, &conf);
    assert_true(p.plain);
#define NOT_PLAIN(field, value)                                                \
    do {                                                                       \
        bide_policy_conf other = defaults();                                   \
        other.field = value;                                                   \
        bide__policy_init(&p, &other);                                         \
        assert_false(p.plain);                                                 \
    } while (0)
    NOT_PLAIN(breaker.kind, BIDE_BREAKER_COUNT);
    NOT_PLAIN(breaker.kind, BIDE_BREAKER_OFF);
    NOT_PLAIN(breaker.consecutive, 5);
    NOT_PLAIN(budget.kind, BIDE_BUDGET_OFF);
    NOT_PLAIN(budget.kind, BIDE_BUDGET_QUOTA);
    NOT_PLAIN(budget.kind, BIDE_BUDGET_THROTTLE);
    NOT_PLAIN(budget.kind, BIDE_BUDGET_IN_FLIGHT);
    NOT_PLAIN(budget.deposit, BIDE_DEPOSIT_CALL);
    NOT_PLAIN(hedge.max, 1);
    NOT_PLAIN(limits.in_flight, 100);
    NOT_PLAIN(limits.adaptive_rate, true);
    NOT_PLAIN(limits.adaptive, BIDE_ADAPTIVE_AIMD);
    NOT_PLAIN(limits.rate, 50);
    NOT_PLAIN(limits.adaptive_throttle, true);
#undef NOT_PLAIN
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policy_shares_become_exact_millionths),
        cmocka_unit_test(policy_init_works_out_the_rest),
        cmocka_unit_test(policy_windows_are_cut_into_ticks),
        cmocka_unit_test(policy_largest_numbers_do_not_overflow),
        cmocka_unit_test(policy_throttled_base_is_the_base_unless_set),
        cmocka_unit_test(policy_plain_is_nothing_beyond_the_usual),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
