/* test_preset.c: each preset has the numbers that its system has published. The
 * sources are named in lib/preset.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bide/bide.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MS           BIDE_MILLISECOND
#define S            BIDE_SECOND

static bide_policy_conf preset(const char *name)
{
    bide_policy_conf conf;
    memset(&conf, 0xa5, sizeof conf); /* overwrites all of it */
    assert_int_equal(bide_policy_preset(&conf, name), 0);
    assert_int_equal(conf.size, sizeof conf);
    assert_null(conf.rules);
    assert_int_equal(conf.n_rules, 0);
    return conf;
}

static void preset_names_are_the_documented_nine(void **state)
{
    static const char *const names[] = { "service",  "patient",
                                         "queue",    "sre",
                                         "aws-standard", "aws-2026",
                                         "grpc",     "envoy",
                                         "finagle" };
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(names); i++) {
        assert_string_equal(bide_policy_preset_name(i), names[i]);
        const char *text = bide_policy_preset_text(i);
        assert_true(strlen(text) > 20 && strlen(text) < 80);
        assert_int_equal(text[strlen(text) - 1], '.');
    }
    assert_null(bide_policy_preset_name(i));
    assert_null(bide_policy_preset_text(i));
    assert_null(bide_policy_preset_name(SIZE_MAX));
    assert_null(bide_policy_preset_text(SIZE_MAX));
}

/* What a queue worker promises: again within 5 s, 15 attempts in 16 to 28 h. */
static void preset_queue_takes_a_day(void **state)
{
    bide_policy_conf conf = preset("queue");
    int64_t lo, hi, shortest = 0, longest = 0;

    (void)state;
    assert_int_equal(conf.attempts, 15);
    for (uint32_t n = 0; n + 1 < conf.attempts; n++) {
        bide_backoff_range(&conf.backoff, n, 0, &lo, &hi);
        if (n == 0)
            assert_in_range(hi, 1, 5 * BIDE_SECOND);
        shortest += lo;
        longest += hi;
    }
    assert_true(shortest >= 16 * 60 * BIDE_MINUTE);
    assert_true(longest <= 28 * 60 * BIDE_MINUTE);
}

static void preset_each_makes_a_dependency(void **state)
{
    (void)state;
    for (size_t i = 0; bide_policy_preset_name(i); i++) {
        bide_policy_conf conf = preset(bide_policy_preset_name(i));
        bide_dep *dep;
        assert_int_equal(bide_policy_check(&conf), 0);
        assert_int_equal(bide_dep_new(&dep, bide_policy_preset_name(i), &conf),
                         0);
        bide_dep_free(dep);
    }
}

static void preset_unknown_name_leaves_conf_untouched(void **state)
{
    static const char *const names[] = { "",     "aws",    "SRE",
                                         "sre ", "envoy2", "aws-standar" };
    bide_policy_conf conf, before;

    (void)state;
    memset(&conf, 0xa5, sizeof conf);
    memcpy(&before, &conf, sizeof conf);
    for (size_t i = 0; i < COUNT(names); i++)
        assert_int_equal(bide_policy_preset(&conf, names[i]), BIDE_ENAME);
    assert_int_equal(bide_policy_preset(&conf, NULL), BIDE_EINVAL);
    assert_memory_equal(&conf, &before, sizeof conf);
    assert_int_equal(bide_policy_preset(NULL, "sre"), BIDE_EINVAL);
}

/* What a preset does not speak of is the default. */
static void preset_silence_means_the_default(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    (void)state;
    for (size_t i = 0; bide_policy_preset_name(i); i++) {
        bide_policy_conf p = preset(bide_policy_preset_name(i));
        assert_int_equal(p.nested, conf.nested);
        assert_int_equal(p.idempotency_key, conf.idempotency_key);
        assert_int_equal(p.hedge.max, 0);
        assert_int_equal(p.retry_after.max_ns, conf.retry_after.max_ns);
        assert_int_equal(p.attempt_min_ns, conf.attempt_min_ns);
        assert_int_equal(p.lanes, conf.lanes);
        assert_false(p.limits.adaptive_rate);
    }
}

static void preset_sre_is_chapter_21(void **state)
{
    bide_policy_conf p = preset("sre");

    (void)state;
    assert_int_equal(p.attempts, 3);
    assert_int_equal(p.budget.kind, BIDE_BUDGET_WINDOW);
    assert_true(p.budget.ratio == 0.1);
    assert_int_equal(p.budget.deposit, BIDE_DEPOSIT_CALL);
    assert_true(p.limits.adaptive_throttle);
    assert_true(p.limits.throttle_k == 2);
    assert_int_equal(p.limits.throttle_window_ns, 120 * S);
    assert_int_equal(p.breaker.kind, BIDE_BREAKER_OFF);
}

/* One retry is always allowed, and 10 % of requests after that. */
static void preset_sre_first_retry_is_granted(void **state)
{
    bide_policy_conf p = preset("sre");
    bide_dep *dep;

    (void)state;
    assert_int_equal(bide_dep_new(&dep, "sre", &p), 0);
    assert_int_equal(bide_dep_budget_left(dep, S), 1);
    bide_dep_free(dep);
}

static void preset_aws_standard_is_the_guide(void **state)
{
    bide_policy_conf p = preset("aws-standard");

    (void)state;
    assert_int_equal(p.attempts, 3);
    assert_int_equal(p.budget.kind, BIDE_BUDGET_QUOTA);
    assert_int_equal(p.budget.capacity, 500);
    assert_int_equal(p.budget.cost, 5);
    assert_int_equal(p.budget.cost_timeout, 10);
    assert_int_equal(p.budget.cost_throttled, 5);
    assert_int_equal(p.budget.refund, 1);
    assert_int_equal(p.backoff.jitter, BIDE_JITTER_FULL);
    assert_int_equal(bide_backoff_value(&p.backoff, 0), 1 * S);
    assert_int_equal(bide_backoff_value(&p.backoff, 1), 2 * S);
    assert_int_equal(bide_backoff_value(&p.backoff, 9), 20 * S);
    assert_int_equal(p.backoff_throttled.base_ns, BIDE_SAME);
    assert_int_equal(p.breaker.kind, BIDE_BREAKER_OFF);
}

static void preset_aws_2026_is_the_announcement(void **state)
{
    bide_policy_conf p = preset("aws-2026");

    (void)state;
    assert_int_equal(p.attempts, 3);
    assert_int_equal(p.budget.kind, BIDE_BUDGET_QUOTA);
    assert_int_equal(p.budget.capacity, 500);
    assert_int_equal(p.budget.cost, 14);
    assert_int_equal(p.budget.cost_timeout, 14);
    assert_int_equal(p.budget.cost_throttled, 5);
    assert_int_equal(p.budget.refund, 1);
    assert_int_equal(p.backoff.jitter, BIDE_JITTER_FULL);
    assert_int_equal(p.backoff.base_ns, 50 * MS);
    assert_int_equal(p.backoff_throttled.base_ns, S);
    assert_int_equal(p.backoff.cap_ns, 20 * S);
    assert_int_equal(p.breaker.kind, BIDE_BREAKER_OFF);
}

/* A full quota pays for 100 retries of old, for 35 of 2026. */
static void preset_aws_quota_pays_for_so_many(void **state)
{
    static const struct {
        const char *name;
        int64_t retries;
    } rows[] = { { "aws-standard", 100 }, { "aws-2026", 35 } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf p = preset(rows[i].name);
        bide_dep *dep;
        assert_int_equal(bide_dep_new(&dep, rows[i].name, &p), 0);
        assert_int_equal(bide_dep_budget_left(dep, 0), rows[i].retries);
        bide_dep_free(dep);
    }
}

static void preset_grpc_is_a6(void **state)
{
    bide_policy_conf p = preset("grpc");
    int64_t lo, hi;

    (void)state;
    assert_int_equal(p.attempts, 4);
    assert_int_equal(p.budget.kind, BIDE_BUDGET_THROTTLE);
    assert_true(p.budget.max_tokens == 10);
    assert_true(p.budget.token_ratio == 0.1);
    assert_int_equal(p.backoff.cap_ns, S);
    bide_backoff_range(&p.backoff, 0, 0, &lo, &hi); /* 100 ms +- 20 % */
    assert_int_equal(lo, 80 * MS);
    assert_int_equal(hi, 120 * MS);
    bide_backoff_range(&p.backoff, 2, 0, &lo, &hi);
    assert_int_equal(lo, 320 * MS);
    assert_int_equal(hi, 480 * MS);
    assert_int_equal(p.retry_after.mode, BIDE_HINT_REPLACE);
    assert_true(p.retry_after.jitter == 0);
    assert_int_equal(p.breaker.kind, BIDE_BREAKER_OFF);
}

static void preset_envoy_is_the_v3_api(void **state)
{
    bide_policy_conf p = preset("envoy");

    (void)state;
    assert_int_equal(p.attempts, 2);
    assert_int_equal(p.deadline_ns, 15 * S);
    assert_int_equal(p.budget.kind, BIDE_BUDGET_IN_FLIGHT);
    assert_true(p.budget.ratio == 0.2);
    assert_int_equal(p.budget.min_in_flight, 3);
    assert_int_equal(p.backoff.jitter, BIDE_JITTER_FULL);
    assert_int_equal(bide_backoff_value(&p.backoff, 0), 25 * MS);
    assert_int_equal(bide_backoff_value(&p.backoff, 1), 50 * MS);
    assert_int_equal(bide_backoff_value(&p.backoff, 4), 250 * MS);
    assert_int_equal(p.limits.in_flight, 1024);
    assert_int_equal(p.breaker.kind, BIDE_BREAKER_OFF);
}

static void preset_finagle_is_finagle_core(void **state)
{
    bide_policy_conf p = preset("finagle");

    (void)state;
    assert_int_equal(p.attempts, 3);
    assert_int_equal(p.budget.kind, BIDE_BUDGET_WINDOW);
    assert_int_equal(p.budget.window_ns, 10 * S);
    assert_true(p.budget.ratio == 0.2);
    assert_true(p.budget.floor_per_s == 10);
    assert_int_equal(p.budget.deposit, BIDE_DEPOSIT_CALL);
    assert_int_equal(p.backoff.jitter, BIDE_JITTER_DECORRELATED);
    assert_int_equal(p.backoff.base_ns, 5 * MS);
    assert_int_equal(p.backoff.cap_ns, 200 * MS);
    assert_true(p.backoff.immediate_first);
    assert_int_equal(p.breaker.kind, BIDE_BREAKER_TIME);
    assert_int_equal(p.breaker.consecutive, 5);
    assert_int_equal(p.breaker.min_calls, 5);
    assert_true(p.breaker.failure_rate == 0.2);
    assert_int_equal(p.breaker.window_ns, 30 * S);
    assert_int_equal(p.breaker.open_ns, 5 * S);
    assert_int_equal(p.breaker.open_max_ns, 300 * S);
    assert_int_equal(p.breaker.probes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preset_names_are_the_documented_nine),
        cmocka_unit_test(preset_queue_takes_a_day),
        cmocka_unit_test(preset_each_makes_a_dependency),
        cmocka_unit_test(preset_unknown_name_leaves_conf_untouched),
        cmocka_unit_test(preset_silence_means_the_default),
        cmocka_unit_test(preset_sre_is_chapter_21),
        cmocka_unit_test(preset_sre_first_retry_is_granted),
        cmocka_unit_test(preset_aws_standard_is_the_guide),
        cmocka_unit_test(preset_aws_2026_is_the_announcement),
        cmocka_unit_test(preset_aws_quota_pays_for_so_many),
        cmocka_unit_test(preset_grpc_is_a6),
        cmocka_unit_test(preset_envoy_is_the_v3_api),
        cmocka_unit_test(preset_finagle_is_finagle_core),
    };

    return cmocka_run_group_tests_name("preset", tests, NULL, NULL);
}
