/* test_call_report.c: reports that make no sense, and the verdict on one that
 * does. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void call_report_twice_counts_once(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);
    bide_stats s;

    (void)state;
    PLAY_ON(dep, GET,
            { 0, REPORT_RC(1, BIDE_ESTATE, WORKED) },
            { 0, REPORT_RC(0, BIDE_ESTATE, WORKED) },
            { 0, TRY(1, FIRST) },
            { 0, REPORT_RC(0, BIDE_ESTATE, WORKED) },
            { 0, REPORT_RC(2, BIDE_ESTATE, WORKED) },
            { 0, REPORT_RC(UINT32_MAX, BIDE_ESTATE, WORKED) },
            { 0, REPORT(1, FAILED) },
            { 0, REPORT_RC(1, BIDE_ESTATE, WORKED) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { 0, REPORT_RC(1, BIDE_ESTATE, WORKED) },
            { 0, REPORT_RC(2, BIDE_ESTATE, WORKED) },
            { S, TRY(2, BACKOFF) },
            { S, REPORT_RC(1, BIDE_ESTATE, FAILED) },
            { S, REPORT(2, WORKED) },
            { S, REPORT_RC(2, BIDE_ESTATE, WORKED) },
            { S, DONE(SUCCESS) },
            { S, REPORT_RC(2, BIDE_ESTATE, FAILED) },
            { S, REPORT_RC(3, BIDE_ESTATE, FAILED) },
            { S, DONE(SUCCESS) });
    s = script_stats(dep, S);
    assert_int_equal(s.attempts, 2);
    assert_int_equal(s.by_class[BIDE_TRANSIENT], 1);
    assert_int_equal(s.by_class[BIDE_SUCCESS], 1);
    bide_dep_free(dep);
}

static void call_report_of_nothing_is_refused(void **state)
{
    bide_policy_conf conf = script_conf();
    const bide_outcome odd[] = {
        { .cls = BIDE_N_CLASSES },
        { .cls = (bide_class)-1 },
        { .cls = (bide_class)INT32_MAX },
    };

    (void)state;
    for (size_t i = 0; i <= COUNT(odd); i++) {
        bide_dep *dep = script_dep(&conf);
        const bide_outcome *out = i < COUNT(odd) ? &odd[i] : NULL;
        bide_breaker_view view;
        bide_call call;

        bide_call_begin(&call, dep, GET, 0);
        bide_call_next(&call, 0);
        assert_int_equal(bide_call_report(&call, 1, out, 0), BIDE_EINVAL);
        assert_int_equal(bide_call_next(&call, 0).reason,
                         BIDE_BECAUSE_PERMANENT);
        assert_int_equal(bide_call_report(&call, 1, out, 0), BIDE_ESTATE);
        bide_call_end(&call, 0);
        bide_dep_breaker_view(dep, 0, &view);
        assert_int_equal(view.attempts, 0);
        bide_dep_free(dep);
    }
}

static void call_report_with_odd_fields_is_taken(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    (void)state;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, .cls = BIDE_TRANSIENT, .fault = (bide_fault)-1,
                     .status = -7) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, .cls = BIDE_TRANSIENT, .fault = (bide_fault)9999,
                     .status = INT32_MAX) },
         { S, WAIT(S + 200 * MS, BACKOFF) });
}

static void call_verdict_needs_a_failure(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);
    bide_call call;
    bide_verdict v = { .value_ns = 77 };

    (void)state;
    bide_call_begin(&call, dep, GET, 0);
    assert_int_equal(bide_call_verdict(&call, &v), BIDE_ESTATE);
    bide_call_next(&call, 0);
    assert_int_equal(bide_call_verdict(&call, &v), BIDE_ESTATE);
    assert_true(v.value_ns == 77);
    bide_call_report(&call, 1, &(bide_outcome){ THROTTLED }, 0);
    bide_call_next(&call, 0);
    assert_int_equal(bide_call_verdict(&call, &v), 0);
    assert_int_equal(v.reason, BIDE_BECAUSE_BACKOFF);
    assert_int_equal(v.cls, BIDE_THROTTLED);
    assert_true(v.value_ns == 100 * MS && v.wait_ns == 100 * MS);
    assert_true(v.wait_min_ns == 100 * MS && v.wait_max_ns == 100 * MS);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

static void call_verdict_gives_the_range_of_the_wait(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.attempts = 12;
    for (int jitter = 0; jitter <= BIDE_JITTER_PROPORTIONAL; jitter++) {
        bide_dep *dep;
        bide_call call;
        bide_verdict v;
        int64_t now = 0, previous = 0;

        conf.backoff.jitter = (bide_jitter)jitter;
        dep = script_dep(&conf);
        bide_call_begin(&call, dep, GET, 0);
        for (uint32_t n = 0; n < 11; n++) {
            int64_t lo, hi;
            bide_decision d = bide_call_next(&call, now);

            assert_int_equal(d.action, BIDE_TRY);
            bide_call_report(&call, n + 1, &(bide_outcome){ FAILED }, now);
            d = bide_call_next(&call, now);
            assert_int_equal(d.action, BIDE_WAIT);
            assert_int_equal(bide_call_verdict(&call, &v), 0);
            bide_backoff_range(&conf.backoff, n, previous, &lo, &hi);
            assert_true(v.wait_min_ns == lo && v.wait_max_ns == hi);
            assert_true(v.wait_ns >= lo && v.wait_ns <= hi);
            assert_true(v.wait_ns == d.at_ns - now);
            assert_true(v.value_ns == bide_backoff_value(&conf.backoff, n));
            previous = v.wait_ns;
            now = d.at_ns;
        }
        bide_call_end(&call, now);
        bide_dep_free(dep);
    }
}

static void call_verdict_gives_the_range_of_a_hint(void **state)
{
    static const struct {
        bide_hint_mode mode;
        int64_t hint_ns, min_ns, max_ns;
    } rows[] = {
        { BIDE_HINT_REPLACE, 50 * MS, 50 * MS, 60 * MS },
        { BIDE_HINT_REPLACE, 500 * MS, 500 * MS, 600 * MS },
        { BIDE_HINT_FLOOR, 20 * MS, 50 * MS, 100 * MS },
        { BIDE_HINT_FLOOR, 60 * MS, 60 * MS, 100 * MS },
        { BIDE_HINT_FLOOR, 90 * MS, 90 * MS, 108 * MS },
        { BIDE_HINT_FLOOR, 500 * MS, 500 * MS, 600 * MS },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = script_conf();
        bide_dep *dep;

        conf.backoff.jitter = BIDE_JITTER_EQUAL; /* 50 to 100 ms */
        conf.retry_after.mode = rows[i].mode;
        conf.retry_after.jitter = 0.2;
        dep = script_dep(&conf);
        for (int n = 0; n < 100; n++) {
            bide_call call;
            bide_verdict v;
            bide_decision d;

            bide_call_begin(&call, dep, GET, 0);
            bide_call_next(&call, 0);
            bide_call_report(&call, 1,
                             &(bide_outcome){ FAILED, HINT(rows[i].hint_ns) },
                             0);
            d = bide_call_next(&call, 0);
            bide_call_verdict(&call, &v);
            assert_true(v.wait_min_ns == rows[i].min_ns);
            assert_true(v.wait_max_ns == rows[i].max_ns);
            assert_true(d.at_ns == v.wait_ns);
            assert_true(v.wait_ns >= v.wait_min_ns);
            assert_true(v.wait_ns <= v.wait_max_ns);
            bide_call_end(&call, 0);
        }
        bide_dep_free(dep);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_report_twice_counts_once),
        cmocka_unit_test(call_report_of_nothing_is_refused),
        cmocka_unit_test(call_report_with_odd_fields_is_taken),
        cmocka_unit_test(call_verdict_needs_a_failure),
        cmocka_unit_test(call_verdict_gives_the_range_of_the_wait),
        cmocka_unit_test(call_verdict_gives_the_range_of_a_hint),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
