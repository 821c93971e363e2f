/* test_stats.c: what is counted, once each. */
#include <stdlib.h>

#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void expect(const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        fail_msg("%s is %llu, expected %llu", what, (unsigned long long)got,
                 (unsigned long long)want);
}

#define EXPECT(field, want) expect(#field, (uint64_t)s.field, (uint64_t)(want))

static void stats_of_nothing_are_zero(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);
    bide_stats s;

    (void)state;
    memset(&s, 0xff, sizeof s);
    assert_int_equal(bide_dep_stats(dep, 0, &s), 0);
    EXPECT(calls, 0);
    EXPECT(attempts, 0);
    EXPECT(call_time.count, 0);
    EXPECT(call_time.sum_ns, 0);
    EXPECT(wait_slept.bucket[BIDE_N_BUCKETS - 1], 0);
    assert_true(s.budget_left == BIDE_FOREVER);
    assert_true(s.rate > 1e300);
    assert_int_equal(s.breaker, BIDE_BREAKER_CLOSED);
    assert_true(bide_stats_amplification(&s) == 0);
    assert_true(bide_histogram_quantile(&s.call_time, 0.5) == -1);
    assert_int_equal(bide_dep_stats(NULL, 0, &s), BIDE_EINVAL);
    assert_int_equal(bide_dep_stats(dep, 0, NULL), BIDE_EINVAL);
    assert_true(bide_stats_amplification(NULL) == 0);
    bide_dep_free(dep);
}

static void stats_count_calls_by_how_they_ended(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);
    bide_stats s;

    (void)state;
    PLAY_ON(dep, GET, /* works at once */
            { 0, TRY(1, FIRST) },
            { 10 * MS, REPORT(1, WORKED) },
            { 10 * MS, DONE(SUCCESS) });
    PLAY_ON(dep, GET, /* works at the third */
            { 0, TRY(1, FIRST) },
            { 10 * MS, REPORT(1, FAILED) },
            { 10 * MS, WAIT(110 * MS, BACKOFF) },
            { 110 * MS, TRY(2, BACKOFF) },
            { 120 * MS, REPORT(2, THROTTLED, HINT(50 * MS)) },
            { 120 * MS, WAIT(170 * MS, HINT) },
            { 171 * MS, TRY(3, HINT) },
            { 191 * MS, REPORT(3, WORKED) },
            { 191 * MS, DONE(SUCCESS) },
            { 900 * MS, END }); /* much later: it took 191 ms all the same */
    PLAY_ON(dep, GET, /* never */
            { 0, TRY(1, FIRST) },
            { 10 * MS, REPORT(1, PERMANENT) },
            { 10 * MS, DONE(PERMANENT) });
    PLAY_ON(dep, POST,
            { 0, TRY(1, FIRST) },
            { 10 * MS, REPORT(1, TIMED_OUT) },
            { 10 * MS, DONE(NOT_IDEMPOTENT) });
    PLAY_ON(dep, GET, /* gave up in the wait */
            { 0, TRY(1, FIRST) },
            { 10 * MS, REPORT(1, FAILED) },
            { 10 * MS, WAIT(110 * MS, BACKOFF) },
            { 10 * MS, CANCEL });
    PLAY_ON(dep, GET, /* gave up in the attempt */
            { 0, TRY(1, FIRST) });

    s = script_stats(dep, S);
    EXPECT(calls, 6);
    EXPECT(first_successes, 1);
    EXPECT(late_successes, 1);
    EXPECT(failures, 4);
    EXPECT(done[BIDE_BECAUSE_SUCCESS], 2);
    EXPECT(done[BIDE_BECAUSE_PERMANENT], 1);
    EXPECT(done[BIDE_BECAUSE_NOT_IDEMPOTENT], 1);
    EXPECT(done[BIDE_BECAUSE_CANCELLED], 2);
    EXPECT(attempts, 8);
    EXPECT(by_class[BIDE_SUCCESS], 2);
    EXPECT(by_class[BIDE_TRANSIENT], 3);
    EXPECT(by_class[BIDE_THROTTLED], 1);
    EXPECT(by_class[BIDE_PERMANENT], 1);
    EXPECT(by_class[BIDE_IGNORED], 1);
    EXPECT(retries, 2);
    EXPECT(retries_by_class[BIDE_TRANSIENT], 1);
    EXPECT(retries_by_class[BIDE_THROTTLED], 1);
    EXPECT(retries_by_reason[BIDE_BECAUSE_BACKOFF], 1);
    EXPECT(retries_by_reason[BIDE_BECAUSE_HINT], 1);
    EXPECT(retries_dropped, 1);
    assert_true(bide_stats_amplification(&s) == 8.0 / 6.0);

    EXPECT(wait_computed.count, 3);
    EXPECT(wait_computed.sum_ns, (100 + 50 + 100) * MS);
    EXPECT(wait_jittered.count, 3);
    EXPECT(wait_jittered.sum_ns, (100 + 50 + 100) * MS);
    EXPECT(wait_slept.count, 2);
    EXPECT(wait_slept.sum_ns, (100 + 51) * MS);
    EXPECT(attempt_time.count, 2);
    EXPECT(call_time.count, 2);
    /* first attempts are measured to within their fine bucket */
    assert_true(llabs((int64_t)s.attempt_time.sum_ns - (10 + 20) * MS) < MS / 4);
    assert_true(llabs((int64_t)s.call_time.sum_ns - (10 + 191) * MS) < MS / 4);
    bide_dep_free(dep);
}

static void stats_waits_before_and_after_jitter(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_stats s;
    uint64_t slept = 0;

    (void)state;
    conf.backoff.jitter = BIDE_JITTER_EQUAL;
    dep = script_dep(&conf);
    for (int i = 0; i < 1000; i++) {
        bide_call call;
        bide_decision d;

        bide_call_begin(&call, dep, GET, 0);
        bide_call_next(&call, 0);
        bide_call_report(&call, 1, &(bide_outcome){ FAILED }, 0);
        d = bide_call_next(&call, 0);
        assert_int_equal(d.action, BIDE_WAIT);
        bide_call_next(&call, d.at_ns + 3 * MS); /* the scheduler was late */
        slept += (uint64_t)(d.at_ns + 3 * MS);
        bide_call_end(&call, 0);
    }
    s = script_stats(dep, 0);
    EXPECT(wait_computed.count, 1000);
    EXPECT(wait_computed.sum_ns, 1000 * 100 * (uint64_t)MS);
    EXPECT(wait_jittered.count, 1000);
    EXPECT(wait_slept.count, 1000);
    EXPECT(wait_slept.sum_ns, slept);
    EXPECT(wait_jittered.sum_ns, slept - 1000 * 3 * (uint64_t)MS);
    assert_true(bide_histogram_quantile(&s.wait_jittered, 0) >= 45 * MS);
    assert_true(bide_histogram_quantile(&s.wait_jittered, 1) <= 110 * MS);
    bide_dep_free(dep);
}

static void stats_immediate_retry_waits_zero(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.backoff.immediate_first = true;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, UNCONNECTED) },
            { 0, TRY(2, IMMEDIATE) });
    s = script_stats(dep, 0);
    EXPECT(retries_by_reason[BIDE_BECAUSE_IMMEDIATE], 1);
    EXPECT(wait_computed.bucket[0], 1);
    EXPECT(wait_jittered.bucket[0], 1);
    EXPECT(wait_slept.bucket[0], 1);
    EXPECT(wait_slept.sum_ns, 0);
    bide_dep_free(dep);
}

/* A first attempt that lost is measured, to keep the quantile honest, but it is
 * not one that succeeded: neither now nor when its slice has turned over. */
static void stats_overtaken_attempts_are_taken_out(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_stats s;
    int64_t now = 0;

    (void)state;
    conf.attempts = 1;
    conf.hedge.max = 1;
    conf.hedge.after_ns = 50 * MS;
    conf.hedge.extra_load = 1;
    dep = script_dep(&conf);
    for (int i = 0; i < 40; i++) {
        PLAY_ON(dep, GET,
                { now, TRY(1, FIRST) },
                { now + 50 * MS, TRY(2, HEDGE) },
                { now + 60 * MS, REPORT(2, WORKED) },
                { now + 60 * MS, DONE(SUCCESS) });
        s = script_stats(dep, now);
        EXPECT(attempt_time.count, (uint64_t)i + 1);
        EXPECT(attempt_time.sum_ns, (uint64_t)(i + 1) * 10 * MS);
        EXPECT(call_time.count, (uint64_t)i + 1);
        EXPECT(call_time.sum_ns, (uint64_t)(i + 1) * 60 * MS);
        assert_true(llabs(bide_dep_latency(dep, 0.5, now + 60 * MS) - 60 * MS) <=
                    MS);
        now += 7 * S;
    }
    for (int i = 0; i < BIDE_N_BUCKETS; i++)
        assert_true(s.attempt_time.bucket[i] <= 40);
    EXPECT(by_class[BIDE_IGNORED], 40);
    EXPECT(late_successes, 40);
    bide_dep_free(dep);
}

static void stats_latency_off_measures_no_first_attempts(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.latency.measure = false;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 10 * MS, REPORT(1, WORKED) });
    s = script_stats(dep, 0);
    EXPECT(first_successes, 1);
    EXPECT(attempt_time.count, 0);
    assert_true(bide_dep_latency(dep, 0.5, 0) == -1);
    bide_dep_free(dep);
}

static void stats_show_the_gauges(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_call call[3];
    bide_stats s;

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 2;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.consecutive = 1;
    conf.breaker.open_ns = S;
    conf.breaker.open_jitter = 0;
    conf.breaker.probes = 1;
    dep = script_dep(&conf);
    for (int i = 0; i < 3; i++) {
        bide_call_begin(&call[i], dep, GET, 0);
        bide_call_next(&call[i], 0);
    }
    s = script_stats(dep, 0);
    EXPECT(in_flight, 1);
    EXPECT(queued, 2);
    EXPECT(budget_left, 10);
    for (int i = 0; i < 3; i++)
        bide_call_end(&call[i], 0);
    PLAY_ON(dep, GET, { 0, TRY(1, FIRST) }, { 0, REPORT(1, FAILED) });
    s = script_stats(dep, 0);
    assert_int_equal(s.breaker, BIDE_BREAKER_OPEN);
    EXPECT(breaker_to[BIDE_BREAKER_OPEN], 1);
    PLAY_ON(dep, GET, { 2 * S, TRY(1, FIRST) }, { 2 * S, REPORT(1, WORKED) });
    s = script_stats(dep, 2 * S);
    assert_int_equal(s.breaker, BIDE_BREAKER_CLOSED);
    EXPECT(breaker_to[BIDE_BREAKER_OPEN], 1);
    EXPECT(breaker_to[BIDE_BREAKER_HALF_OPEN], 1);
    EXPECT(breaker_to[BIDE_BREAKER_CLOSED], 1);
    EXPECT(late_reports, 0);
    bide_dep_free(dep);
}

static void stats_late_report_is_of_an_earlier_time(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.consecutive = 1;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, BY(1), TRY(1, FIRST) },
            { 0, BY(1), REPORT(1, FAILED) },
            { 0, REPORT(1, FAILED) });
    s = script_stats(dep, 0);
    EXPECT(late_reports, 1);
    EXPECT(by_class[BIDE_TRANSIENT], 2);
    bide_dep_free(dep);
}

/* ===== histograms ===== */

static void stats_buckets_hold_what_they_say(void **state)
{
    (void)state;
    assert_true(bide_bucket_ns(0) == 0);
    assert_true(bide_bucket_ns(BIDE_N_BUCKETS) > 3600 * S);
    assert_true(bide_bucket_ns(BIDE_N_BUCKETS + 1) ==
                bide_bucket_ns(BIDE_N_BUCKETS));
    assert_true(bide_bucket_ns(UINT32_MAX) == bide_bucket_ns(BIDE_N_BUCKETS));
    for (unsigned i = 0; i < BIDE_N_BUCKETS; i++) {
        bide_histogram h = { 0 };
        int64_t lo = bide_bucket_ns(i), hi = bide_bucket_ns(i + 1);

        assert_true(lo < hi);
        bide__histogram_count(&h, lo, 1);
        bide__histogram_count(&h, hi - 1, 1);
        expect("count in its bucket", h.bucket[i], 2);
        for (int q = 0; q <= 4; q++) {
            int64_t v = bide_histogram_quantile(&h, q / 4.0);

            assert_true(v >= lo && v < hi);
        }
    }
}

static void stats_quantile_finds_the_bucket(void **state)
{
    bide_histogram h = { 0 };
    static const struct {
        double q;
        int64_t at_ns;
    } rows[] = {
        { 0, MS }, { 0.5, MS }, { 0.90, MS }, { 0.91, 10 * MS },
        { 0.99, 10 * MS }, { 0.995, S }, { 1, S },
    };

    (void)state;
    bide__histogram_count(&h, MS, 90);
    bide__histogram_count(&h, 10 * MS, 9);
    bide__histogram_count(&h, S, 1);
    expect("sum", h.sum_ns, (uint64_t)(90 * MS + 90 * MS + S));
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t v = bide_histogram_quantile(&h, rows[i].q);

        assert_true(v > rows[i].at_ns / 5 * 4 && v < rows[i].at_ns / 4 * 5);
    }
    assert_true(bide_histogram_quantile(&h, -0.1) == -1);
    assert_true(bide_histogram_quantile(&h, 1.1) == -1);
    assert_true(bide_histogram_quantile(NULL, 0.5) == -1);
}

/* It was decided, and counted, before it broke off. */
static void stats_cut_short_is_no_call(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    bide_stats s;

    (void)state;
    assert_int_equal(bide_dep_new(&dep, "cut", &conf), 0);
    bide_dep_cut_short(dep);
    bide_dep_cut_short(NULL);
    assert_int_equal(bide_dep_stats(dep, 0, &s), 0);
    assert_int_equal(s.done[BIDE_BECAUSE_CUT_SHORT], 1);
    assert_int_equal(s.calls, 0);
    assert_int_equal(s.failures, 0);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stats_of_nothing_are_zero),
        cmocka_unit_test(stats_count_calls_by_how_they_ended),
        cmocka_unit_test(stats_waits_before_and_after_jitter),
        cmocka_unit_test(stats_immediate_retry_waits_zero),
        cmocka_unit_test(stats_overtaken_attempts_are_taken_out),
        cmocka_unit_test(stats_latency_off_measures_no_first_attempts),
        cmocka_unit_test(stats_show_the_gauges),
        cmocka_unit_test(stats_late_report_is_of_an_earlier_time),
        cmocka_unit_test(stats_buckets_hold_what_they_say),
        cmocka_unit_test(stats_quantile_finds_the_bucket),
        cmocka_unit_test(stats_cut_short_is_no_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
