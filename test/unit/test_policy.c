/* test_policy.c: nonsense is refused, and the error names the field. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "fixture.h"
#include "lib/policy.h"

/* The code of a refusal of the field `key`. */
static int refusal(const char *key)
{
    size_t n;
    const bide_option *o = bide_policy_options(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(o[i].key, key) == 0)
            return BIDE_EFIELD - (int)i;
    fail_msg("no option %s", key);
    return 0;
}

static void assert_refused(const bide_policy_conf *conf, const char *key)
{
    int rc = bide_policy_check(conf);
    if (rc != refusal(key))
        fail_msg("%s, not %s", bide_error_name(rc), key);
    assert_string_equal(bide_error_name(rc), key);
    assert_int_equal(strncmp(bide_strerror(rc), key, strlen(key)), 0);
    assert_int_equal(strncmp(bide_strerror(rc) + strlen(key), ": expected ",
                             strlen(": expected ")),
                     0);
}

static void policy_init_is_accepted(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    assert_int_equal(bide_policy_check(&conf), 0);
    assert_int_equal(conf.size, sizeof conf);
}

/* ===== each field, from the table ===== */

/* Puts a value into the field of an option. */
static void put(bide_policy_conf *conf, const bide_option *o, const void *value,
                size_t size)
{
    memcpy((char *)conf + o->offset, value, size);
}

static void expect_field(const bide_option *o, const void *value, size_t size,
                         double shown)
{
    bide_policy_conf conf = defaults();
    put(&conf, o, value, size);
    int rc = bide_policy_check(&conf);
    if (rc != refusal(o->key))
        fail_msg("%s = %g: %s", o->key, shown, bide_error_name(rc));
}

/* A value in the field's own range may only go against another field. */
static void expect_taken(const bide_option *o, const void *value, size_t size,
                         double shown)
{
    static const char *const others[] = {
        "backoff.cap",
        "backoff.floor",
        "backoff.shape",
        "backoff.delays",
        "backoff_throttled.base",
        "backoff_throttled.cap",
        "backoff_throttled.delays",
        "backoff_conflict.base",
        "backoff_conflict.cap",
        "backoff_conflict.delays",
        "backoff_timeout.base",
        "backoff_timeout.cap",
        "backoff_timeout.delays",
        "breaker.open_max",
        "hedge.max",
        "limits.adaptive_min",
        "limits.adaptive_initial",
        "lanes",
    };
    bide_policy_conf conf = defaults();
    put(&conf, o, value, size);
    int rc = bide_policy_check(&conf);
    if (rc == 0)
        return;
    for (size_t i = 0; i < COUNT(others); i++)
        if (rc == refusal(others[i]))
            return;
    fail_msg("%s = %g: %s", o->key, shown, bide_error_name(rc));
}

static void sweep_duration(const bide_option *o)
{
    int64_t min = (int64_t)o->min, out[] = { min - 1, -2, -1000, INT64_MIN };
    bool bounded = o->max < 0x1p63;
    int64_t max = bounded ? (int64_t)o->max : INT64_MAX;
    int64_t least = min + o->above_min;

    for (size_t i = 0; i < COUNT(out); i++)
        if (!o->special || out[i] != o->special_value)
            expect_field(o, &out[i], sizeof out[i], (double)out[i]);
    if (o->above_min)
        expect_field(o, &min, sizeof min, (double)min);
    if (bounded) {
        int64_t over[] = { max + 1, max * 2, INT64_MAX };
        for (size_t i = 0; i < COUNT(over); i++)
            expect_field(o, &over[i], sizeof over[i], (double)over[i]);
    }
    expect_taken(o, &least, sizeof least, (double)least);
    expect_taken(o, &max, sizeof max, (double)max);
    if (o->special)
        expect_taken(o, &o->special_value, sizeof o->special_value, -1);
}

static void sweep_count(const bide_option *o)
{
    uint32_t min = (uint32_t)o->min, max = (uint32_t)o->max;
    uint32_t over[] = { max + 1, UINT32_MAX - 1, UINT32_MAX };

    if (min > 0) {
        uint32_t under = min - 1;
        expect_field(o, &under, sizeof under, under);
    }
    for (size_t i = 0; i < COUNT(over); i++)
        if (!o->special || over[i] != o->special_value)
            expect_field(o, &over[i], sizeof over[i], over[i]);
    expect_taken(o, &min, sizeof min, min);
    expect_taken(o, &max, sizeof max, max);
    if (o->special) {
        uint32_t special = (uint32_t)o->special_value;
        expect_taken(o, &special, sizeof special, special);
    }
}

static void sweep_number(const bide_option *o)
{
    double out[] = { nextafter(o->min, -INFINITY),
                     nextafter(o->max, INFINITY),
                     o->max * 2,
                     -1,
                     -DBL_MAX,
                     DBL_MAX,
                     INFINITY,
                     -INFINITY,
                     NAN,
                     -NAN };
    double least = o->above_min ? nextafter(o->min, 1) : o->min;

    if (o->special) {
        out[3] = nextafter((double)o->special_value, 0);
        least = (double)o->special_value;
        expect_taken(o, &least, sizeof least, least);
        least = o->min;
    }
    for (size_t i = 0; i < COUNT(out); i++)
        expect_field(o, &out[i], sizeof out[i], out[i]);
    if (o->above_min)
        expect_field(o, &o->min, sizeof o->min, o->min);
    expect_taken(o, &least, sizeof least, least);
    expect_taken(o, &o->max, sizeof o->max, o->max);
}

static void sweep_choice(const bide_option *o)
{
    int n = 0, out[] = { 0, -1, 1000, INT32_MAX, INT32_MIN };
    for (; o->choices[n]; n++)
        expect_taken(o, &n, sizeof n, n);
    out[0] = n;
    for (size_t i = 0; i < COUNT(out); i++)
        expect_field(o, &out[i], sizeof out[i], out[i]);
}

static void sweep_flag(const bide_option *o)
{
    for (int value = 0; value < 256; value++) {
        unsigned char byte = (unsigned char)value;
        if (value > 1)
            expect_field(o, &byte, sizeof byte, value);
        else
            expect_taken(o, &byte, sizeof byte, value);
    }
}

static void sweep_delays(const bide_option *o)
{
    bide_delays d = { 0, { 0 } };

    for (uint32_t n = 0; n <= BIDE_MAX_DELAYS; n++) {
        d.n = n;
        expect_taken(o, &d, sizeof d, n);
        d.ns[0] = -1;
        if (n > 0)
            expect_field(o, &d, sizeof d, -1);
        d.ns[0] = INT64_MAX;
        expect_taken(o, &d, sizeof d, n);
    }
    d.n = BIDE_MAX_DELAYS + 1;
    expect_field(o, &d, sizeof d, d.n);
    d.n = UINT32_MAX;
    expect_field(o, &d, sizeof d, d.n);
}

static void policy_each_field_out_of_range_is_named(void **state)
{
    size_t n;
    const bide_option *o = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        switch (o[i].type) {
        case BIDE_OPTION_DURATION:
            sweep_duration(&o[i]);
            break;
        case BIDE_OPTION_COUNT:
            sweep_count(&o[i]);
            break;
        case BIDE_OPTION_FLAG:
            sweep_flag(&o[i]);
            break;
        case BIDE_OPTION_CHOICE:
            sweep_choice(&o[i]);
            break;
        case BIDE_OPTION_DELAYS:
            sweep_delays(&o[i]);
            break;
        default:
            sweep_number(&o[i]);
        }
    }
}

/* The mistakes that a user would make, by hand: the table is not believed. */
static void policy_nonsense_is_refused(void **state)
{
    (void)state;
#define REFUSED(key, field, value)                                             \
    do {                                                                       \
        bide_policy_conf conf = defaults();                                    \
        conf.field = value;                                                    \
        assert_refused(&conf, key);                                            \
    } while (0)
    REFUSED("attempts", attempts, 0);
    REFUSED("attempts", attempts, UINT32_MAX);
    REFUSED("attempts", attempts, (1u << 31) + 1);
    REFUSED("attempt_timeout", attempt_timeout_ns, 0);
    REFUSED("attempt_timeout", attempt_timeout_ns, -1);
    REFUSED("attempt_min", attempt_min_ns, -1);
    REFUSED("deadline", deadline_ns, 0);
    REFUSED("backoff.base", backoff.base_ns, -1);
    REFUSED("backoff.factor", backoff.factor, 0.999);
    REFUSED("backoff.factor", backoff.factor, NAN);
    REFUSED("backoff.spread", backoff.spread, 1.001);
    REFUSED("backoff_throttled.base", backoff_throttled.base_ns, -2);
    REFUSED("retry_after.max", retry_after.max_ns, -1);
    REFUSED("retry_after.jitter", retry_after.jitter, 1.5);
    REFUSED("budget.ratio", budget.ratio, 1.1);
    REFUSED("budget.ratio", budget.ratio, 10);
    REFUSED("budget.window", budget.window_ns, 0);
    REFUSED("budget.window", budget.window_ns, 99 * BIDE_MILLISECOND);
    REFUSED("budget.window", budget.window_ns, BIDE_HOUR + 1);
    REFUSED("budget.floor", budget.floor_per_s, -0.1);
    REFUSED("budget.capacity", budget.capacity, 0);
    REFUSED("budget.max_tokens", budget.max_tokens, 0);
    REFUSED("budget.token_ratio", budget.token_ratio, 0);
    REFUSED("breaker.failure_rate", breaker.failure_rate, 0);
    REFUSED("breaker.slow_rate", breaker.slow_rate, 0);
    REFUSED("breaker.slow", breaker.slow_ns, 0);
    REFUSED("breaker.min_calls", breaker.min_calls, 0);
    REFUSED("breaker.window_calls", breaker.window_calls, 1025);
    REFUSED("breaker.probes", breaker.probes, 0);
    REFUSED("breaker.probes", breaker.probes, 17);
    REFUSED("breaker.open", breaker.open_ns, 0);
    REFUSED("hedge.quantile", hedge.quantile, 1);
    REFUSED("hedge.max", hedge.max, 5);
    REFUSED("limits.in_flight", limits.in_flight, 0);
    REFUSED("limits.throttle_k", limits.throttle_k, 0.5);
    REFUSED("lanes", lanes, 0);
    REFUSED("lanes", lanes, 128);
#undef REFUSED
}

static void policy_extremes_are_taken(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    conf.attempts = 1u << 31;
    conf.attempt_timeout_ns = BIDE_FOREVER;
    conf.attempt_min_ns = INT64_MAX;
    conf.deadline_ns = INT64_MAX;
    conf.backoff.base_ns = conf.backoff.cap_ns = INT64_MAX;
    conf.backoff.floor_ns = conf.backoff_throttled.base_ns = INT64_MAX;
    conf.backoff.factor = 1000;
    conf.retry_after.max_ns = INT64_MAX;
    conf.limits.queue_timeout_ns = INT64_MAX;
    assert_int_equal(bide_policy_check(&conf), 0);
    conf.backoff.base_ns = conf.backoff.cap_ns = conf.backoff.floor_ns = 0;
    conf.backoff_throttled.base_ns = 0;
    conf.backoff.factor = 1;
    conf.retry_after.max_ns = 0;
    conf.attempts = 1;
    assert_int_equal(bide_policy_check(&conf), 0);
}

/* ===== two fields ===== */

static void policy_cap_under_base_is_refused(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    conf.backoff.base_ns = conf.backoff.cap_ns;
    assert_int_equal(bide_policy_check(&conf), 0);
    conf.backoff.base_ns++;
    assert_refused(&conf, "backoff.cap");
}

static void policy_floor_over_cap_is_refused(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    conf.backoff.floor_ns = conf.backoff.cap_ns;
    assert_int_equal(bide_policy_check(&conf), 0);
    conf.backoff.floor_ns++;
    assert_refused(&conf, "backoff.floor");
}

static void policy_throttled_base_over_cap_is_refused(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    conf.backoff_throttled.base_ns = conf.backoff.cap_ns;
    assert_int_equal(bide_policy_check(&conf), 0);
    conf.backoff_throttled.base_ns++;
    assert_refused(&conf, "backoff_throttled.base");
}

static void policy_min_calls_over_the_ring_is_refused(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    conf.breaker.min_calls = conf.breaker.window_calls + 1;
    assert_int_equal(bide_policy_check(&conf), 0); /* kind time */
    conf.breaker.kind = BIDE_BREAKER_COUNT;
    assert_refused(&conf, "breaker.min_calls");
    conf.breaker.min_calls--;
    assert_int_equal(bide_policy_check(&conf), 0);
}

static void policy_hedge_with_retries_is_refused(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    for (uint32_t max = 1; max <= 4; max++) {
        conf.hedge.max = max;
        conf.attempts = 2;
        assert_refused(&conf, "hedge.max");
        conf.attempts = 1;
        assert_int_equal(bide_policy_check(&conf), 0);
    }
}

static void policy_hedge_by_quantile_unmeasured_is_refused(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    conf.attempts = 1;
    conf.hedge.max = 1;
    conf.latency.measure = false;
    assert_refused(&conf, "hedge.quantile");
    conf.hedge.after_ns = 0; /* a fixed delay needs no measurement */
    assert_int_equal(bide_policy_check(&conf), 0);
    conf.hedge.after_ns = BIDE_FOREVER;
    conf.hedge.max = 0; /* nor does no hedging */
    assert_int_equal(bide_policy_check(&conf), 0);
}

static void policy_lanes_not_a_power_of_2_are_refused(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    for (uint32_t lanes = 1; lanes <= 64; lanes++) {
        conf.lanes = lanes;
        if ((lanes & (lanes - 1)) == 0)
            assert_int_equal(bide_policy_check(&conf), 0);
        else
            assert_refused(&conf, "lanes");
    }
}

/* ===== size ===== */

static void policy_size_that_is_none_is_refused(void **state)
{
    static const size_t sizes[] = {
        0,
        1,
        offsetof(bide_policy_conf, n_rules) + sizeof(size_t) - 1,
        sizeof(bide_policy_conf) + 1,
        sizeof(bide_policy_conf) + 8,
        SIZE_MAX,
    };
    /* a struct of the future, with a field that this library does not know */
    struct {
        bide_policy_conf conf;
        int64_t new_field;
    } bigger = { defaults(), 1 };
    bide_dep *dep = NULL;

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        bigger.conf.size = sizes[i];
        assert_int_equal(bide_policy_check(&bigger.conf), BIDE_ESIZE);
        assert_int_equal(bide_dep_new(&dep, "x", &bigger.conf), BIDE_ESIZE);
        assert_int_equal(bide_dep_size(&bigger.conf), 0);
    }
    bigger.conf.size = sizeof bigger;
    assert_int_equal(bide_policy_check(&bigger.conf), BIDE_ESIZE);
    assert_null(dep);
}

static void policy_null_is_refused(void **state)
{
    (void)state;
    assert_int_equal(bide_policy_check(NULL), BIDE_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policy_init_is_accepted),
        cmocka_unit_test(policy_each_field_out_of_range_is_named),
        cmocka_unit_test(policy_nonsense_is_refused),
        cmocka_unit_test(policy_extremes_are_taken),
        cmocka_unit_test(policy_cap_under_base_is_refused),
        cmocka_unit_test(policy_floor_over_cap_is_refused),
        cmocka_unit_test(policy_throttled_base_over_cap_is_refused),
        cmocka_unit_test(policy_min_calls_over_the_ring_is_refused),
        cmocka_unit_test(policy_hedge_with_retries_is_refused),
        cmocka_unit_test(policy_hedge_by_quantile_unmeasured_is_refused),
        cmocka_unit_test(policy_lanes_not_a_power_of_2_are_refused),
        cmocka_unit_test(policy_size_that_is_none_is_refused),
        cmocka_unit_test(policy_null_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
