/* test_breaker.c: when the breaker opens, and for how long. */
#include "breaker_steps.h"

/* ===== opening ===== */

static void breaker_opens_at_min_calls_and_rate(void **state)
{
    static const struct {
        double rate;
        uint32_t min_calls;
        int good, bad, good_again, bad_again;
        bool open;
    } rows[] = {
        { 0.5, 20, 0, 19, 0, 0, false },
        { 0.5, 20, 0, 20, 0, 0, true },
        { 0.5, 20, 10, 9, 0, 0, false },
        { 0.5, 20, 10, 10, 0, 0, true },
        { 0.5, 20, 11, 10, 0, 0, false },
        { 0.5, 20, 11, 11, 0, 0, true },
        { 0.5, 20, 50, 49, 0, 0, false },
        { 0.5, 20, 50, 50, 0, 0, true },
        /* a success can be the call that completes min_calls */
        { 0.5, 20, 0, 10, 10, 0, true },
        { 0.5, 5, 0, 3, 1, 0, false },
        { 0.5, 5, 0, 3, 2, 0, true },
        { 0.5, 5, 2, 2, 1, 0, false },
        { 0.5, 6, 0, 3, 3, 0, true },
        { 0.5, 7, 0, 3, 4, 0, false },
        { 0.5, 7, 0, 3, 4, 1, true },
        { 1, 20, 1, 60, 0, 0, false },
        { 1, 20, 0, 20, 0, 0, true },
        { 0.5, 1, 0, 1, 0, 0, true },
        { 0.5, 1, 0, 0, 9, 0, false },
        { 0.29, 100, 71, 28, 0, 0, false },
        { 0.29, 100, 71, 29, 0, 0, true },
        { 0.01, 10, 100, 1, 0, 0, false },
        { 0.01, 10, 99, 1, 0, 0, true },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = steady();
        conf.breaker.failure_rate = rows[i].rate;
        conf.breaker.min_calls = rows[i].min_calls;
        bide_dep *dep = new_dep(&conf);
        many(dep, BIDE_SUCCESS, rows[i].good, S);
        many(dep, BIDE_TRANSIENT, rows[i].bad, S);
        many(dep, BIDE_SUCCESS, rows[i].good_again, S);
        many(dep, BIDE_TRANSIENT, rows[i].bad_again, S);
        if ((bide_dep_breaker(dep, S) == BIDE_BREAKER_OPEN) != rows[i].open)
            fail_msg("row %zu", i);
        bide_dep_free(dep);
    }
}

/* What an attempt says about the dependency. */
static void breaker_counts_by_outcome(void **state)
{
    static const struct {
        bide_outcome out;
        uint64_t attempts, failed;
    } rows[] = {
        { { .cls = BIDE_SUCCESS }, 1, 0 },
        { { .cls = BIDE_TRANSIENT }, 1, 1 },
        { { .cls = BIDE_OVERLOADED }, 1, 1 },
        { { .cls = BIDE_THROTTLED }, 0, 0 },
        { { .cls = BIDE_IGNORED }, 0, 0 },
        { { .cls = BIDE_PERMANENT, .status = 404 }, 1, 0 },
        { { .cls = BIDE_PERMANENT, .fault = BIDE_FAULT_TLS }, 1, 1 },
    };
    bide_policy_conf conf = steady();
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep = new_dep(&conf);
        bide_call call;
        start(&call, dep, 0);
        bide_call_report(&call, 1, &rows[i].out, 0);
        bide_call_end(&call, 0);
        assert_int_equal(view_of(dep, 0).attempts, rows[i].attempts);
        assert_int_equal(view_of(dep, 0).failed, rows[i].failed);
        bide_dep_free(dep);
    }
}

static void breaker_window_slides(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    (void)state;
    many(dep, BIDE_TRANSIENT, 19, 0);
    assert_int_equal(view_of(dep, 9999 * MS).attempts, 19);
    assert_int_equal(view_of(dep, 10 * S).attempts, 0);
    many(dep, BIDE_TRANSIENT, 19, 10 * S); /* the first 19 are gone */
    assert_int_equal(bide_dep_breaker(dep, 10 * S), BIDE_BREAKER_CLOSED);
    many(dep, BIDE_TRANSIENT, 1, 19 * S);
    assert_int_equal(bide_dep_breaker(dep, 19 * S), BIDE_BREAKER_OPEN);
    bide_dep_free(dep);
}

/* {how long each attempt takes, its outcome, how many, the state then} */
static void breaker_opens_by_slow_attempts(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.slow_ns = S;
    conf.breaker.slow_rate = 0.5;
    conf.breaker.min_calls = 10;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    for (int i = 0; i < 6; i++)
        one_call(dep, BIDE_SUCCESS, 0, S - 1);
    for (int i = 0; i < 5; i++)
        one_call(dep, BIDE_SUCCESS, 0, S); /* just slow */
    assert_int_equal(bide_dep_breaker(dep, S), BIDE_BREAKER_CLOSED);
    assert_int_equal(view_of(dep, S).slow, 5);
    assert_int_equal(view_of(dep, S).failed, 0);
    one_call(dep, BIDE_SUCCESS, 0, 2 * S);
    assert_int_equal(bide_dep_breaker(dep, 2 * S), BIDE_BREAKER_OPEN);
    bide_dep_free(dep);
}

static void breaker_opens_by_failures_in_a_row(void **state)
{
    bide_policy_conf conf = steady();
    static const bide_class between[] = { BIDE_SUCCESS, BIDE_PERMANENT,
                                          BIDE_IGNORED, BIDE_THROTTLED };
    (void)state;
    conf.breaker.consecutive = 5;
    for (size_t i = 0; i < COUNT(between); i++) {
        bool neutral = i >= 2;
        bide_dep *dep = new_dep(&conf);
        many(dep, BIDE_TRANSIENT, 4, 0);
        many(dep, between[i], 1, 60 * S); /* no window for these */
        many(dep, BIDE_TRANSIENT, 1, 60 * S);
        assert_int_equal(bide_dep_breaker(dep, 60 * S),
                         neutral ? BIDE_BREAKER_OPEN : BIDE_BREAKER_CLOSED);
        if (!neutral)
            many(dep, BIDE_TRANSIENT, 4, 60 * S);
        assert_int_equal(bide_dep_breaker(dep, 60 * S), BIDE_BREAKER_OPEN);
        recover(dep, 90 * S); /* and those of before do not count */
        many(dep, BIDE_TRANSIENT, 4, 90 * S);
        assert_int_equal(bide_dep_breaker(dep, 90 * S), BIDE_BREAKER_CLOSED);
        many(dep, BIDE_TRANSIENT, 1, 90 * S);
        assert_int_equal(bide_dep_breaker(dep, 90 * S), BIDE_BREAKER_OPEN);
        bide_dep_free(dep);
    }
}

/* ===== open ===== */

static void breaker_open_refuses_until_its_time(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    int64_t until = trip(dep, 7 * S);
    (void)state;
    assert_in_range(until, 37 * S - UNIT, 37 * S);
    assert_true(refused(dep, 7 * S).at_ns == until);
    assert_true(refused(dep, until - 1).at_ns == until);
    assert_int_equal(bide_dep_breaker(dep, until - 1), BIDE_BREAKER_OPEN);
    assert_int_equal(bide_dep_breaker(dep, until), BIDE_BREAKER_HALF_OPEN);
    one_call(dep, BIDE_SUCCESS, until, until);
    assert_int_equal(stats_of(dep, until).breaker_to[BIDE_BREAKER_HALF_OPEN],
                     1);
    bide_dep_free(dep);
}

static void breaker_open_ends_a_call_before_its_budget(void **state)
{
    bide_policy_conf conf = steady();
    conf.attempts = 4;
    bide_dep *dep = new_dep(&conf);
    bide_call call;
    (void)state;
    start(&call, dep, 0);
    int64_t until = trip(dep, 0);
    bide_decision d = report(&call, BIDE_TRANSIENT, 0);
    assert_int_equal(d.reason, BIDE_BECAUSE_BREAKER_OPEN);
    assert_true(d.at_ns == until);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

static void breaker_open_time_is_spread(void **state)
{
    bide_policy_conf conf = steady();
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, 5);
    int64_t least = BIDE_FOREVER, most = 0, sum = 0;
    (void)state;
    conf.breaker.open_jitter = 0.2;
    conf.breaker.min_calls = 1;
    for (int i = 0; i < 2000; i++) {
        bide_dep *dep = new_dep(&conf);
        bide_call call;
        bide_op op = { .rng = &rng };
        bide_call_begin(&call, dep, &op, S);
        bide_call_next(&call, S);
        report(&call, BIDE_TRANSIENT, S);
        bide_call_end(&call, S);
        int64_t open = view_of(dep, S).open_until_ns - S;
        least = open < least ? open : least;
        most = open > most ? open : most;
        sum += open / 2000;
        bide_dep_free(dep);
    }
    assert_in_range(least, 30 * S - UNIT, 30 * S + 50 * MS);
    assert_in_range(most, 36 * S - 50 * MS, 36 * S);
    assert_in_range(sum, 33 * S - 160 * MS, 33 * S + 160 * MS); /* 4 sigma */
}

/* Each reopening in a row doubles the time, up to the most; closing starts
 * over. */
static void breaker_open_time_grows(void **state)
{
    static const int64_t seconds[] = { 30, 60, 120, 240, 300, 300, 300 };
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    int64_t now = 0;
    (void)state;
    for (int round = 0; round < 2; round++) {
        int64_t until = trip(dep, now);
        for (size_t i = 0; i < COUNT(seconds); i++) {
            assert_in_range(until - now, seconds[i] * S - UNIT, seconds[i] * S);
            now = until;
            if (i + 1 < COUNT(seconds)) {
                many(dep, BIDE_TRANSIENT, 1, now); /* one failed probe */
                assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_OPEN);
                until = view_of(dep, now).open_until_ns;
            }
        }
        recover(dep, now);
    }
    bide_dep_free(dep);
}

static void breaker_hint_lengthens_open_time(void **state)
{
    static const struct {
        bool hinted;
        int64_t hint_s, open_s;
    } rows[] = {
        { false, 100, 30 }, { true, 0, 30 },     { true, 10, 30 },
        { true, 31, 31 },   { true, 100, 100 },  { true, 300, 300 },
        { true, 301, 300 }, { true, 3600, 300 }, { true, 9000000, 300 }
    };
    bide_policy_conf conf = steady();
    (void)state;
    conf.breaker.min_calls = 1;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int probe = 0; probe < 2; probe++) {
            bide_dep *dep = new_dep(&conf);
            int64_t now = probe ? trip(dep, 0) : 0;
            int64_t open_s = probe && rows[i].open_s < 60 ? 60 : rows[i].open_s;
            bide_outcome out = { .cls = BIDE_TRANSIENT,
                                 .hinted = rows[i].hinted,
                                 .hint_ns = rows[i].hint_s * S };
            bide_call call;
            start(&call, dep, now);
            bide_call_report(&call, 1, &out, now);
            bide_call_end(&call, now);
            assert_in_range(view_of(dep, now).open_until_ns - now,
                            open_s * S - UNIT, open_s * S);
            bide_dep_free(dep);
        }
    }
}

/* ===== clocks ===== */

static void breaker_clock_standing_still_or_back_does_no_harm(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    int64_t until = trip(dep, 100 * S);
    (void)state;
    for (int i = 0; i < 100; i++)
        refused(dep, 100 * S);
    refused(dep, 0);
    refused(dep, -1);
    refused(dep, INT64_MIN);
    recover(dep, until);
    many(dep, BIDE_SUCCESS, 10, until - 60 * S);
    many(dep, BIDE_TRANSIENT, 20, until - 120 * S);
    assert_int_equal(bide_dep_breaker(dep, 0), BIDE_BREAKER_OPEN);
    bide_dep_free(dep);
}

static void breaker_at_the_end_of_time_does_not_wrap(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    (void)state;
    while (stats_of(dep, 0).breaker_to[BIDE_BREAKER_OPEN] == 0)
        one_call(dep, BIDE_TRANSIENT, INT64_MAX - S, INT64_MAX - S);
    assert_int_equal(bide_dep_breaker(dep, INT64_MAX - S), BIDE_BREAKER_OPEN);
    refused(dep, INT64_MAX - S);
    one_call(dep, BIDE_SUCCESS, INT64_MAX, INT64_MAX);
    assert_int_equal(bide_dep_breaker(dep, INT64_MAX), BIDE_BREAKER_HALF_OPEN);
    bide_dep_free(dep);
}

static void breaker_view_tells_when_it_opens_only_while_it_is(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    int64_t until = trip(dep, 0);
    (void)state;
    assert_true(view_of(dep, until - 1).open_until_ns == until);
    assert_int_equal(view_of(dep, until - 1).state, BIDE_BREAKER_OPEN);
    assert_int_equal(view_of(dep, until).state, BIDE_BREAKER_HALF_OPEN);
    assert_int_equal(view_of(dep, until).open_until_ns, 0);
    bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_CLOSED);
    assert_int_equal(view_of(dep, 0).state, BIDE_BREAKER_CLOSED);
    assert_int_equal(view_of(dep, 0).open_until_ns, 0);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaker_opens_at_min_calls_and_rate),
        cmocka_unit_test(breaker_counts_by_outcome),
        cmocka_unit_test(breaker_window_slides),
        cmocka_unit_test(breaker_opens_by_slow_attempts),
        cmocka_unit_test(breaker_opens_by_failures_in_a_row),
        cmocka_unit_test(breaker_open_refuses_until_its_time),
        cmocka_unit_test(breaker_open_ends_a_call_before_its_budget),
        cmocka_unit_test(breaker_open_time_is_spread),
        cmocka_unit_test(breaker_open_time_grows),
        cmocka_unit_test(breaker_hint_lengthens_open_time),
        cmocka_unit_test(breaker_clock_standing_still_or_back_does_no_harm),
        cmocka_unit_test(breaker_at_the_end_of_time_does_not_wrap),
        cmocka_unit_test(breaker_view_tells_when_it_opens_only_while_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
