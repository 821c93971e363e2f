/* test_hedge_end.c: what comes of hedges: one wins, the others leave no mark.
 * */
#include "hedge_play.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void hedge_original_wins_after_all(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep = hedge_dep(&conf);
    bide_stats s;

    (void)state;
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 60 * MS, REPORT(1, WORKED) },
            { 60 * MS, DONE(SUCCESS) });
    expect_hedges(dep, 1, 0, 0);
    s = script_stats(dep, S);
    assert_int_equal(s.attempts, 2);
    assert_int_equal(s.by_class[BIDE_SUCCESS], 1);
    assert_int_equal(s.by_class[BIDE_IGNORED], 1);
    assert_int_equal(s.first_successes + s.late_successes, 1);
    bide_dep_free(dep);
}

static void hedge_nonfatal_failure_sends_the_next_at_once(void **state)
{
    bide_policy_conf conf = hedge_conf(2);
    bide_dep *dep = hedge_dep(&conf);

    (void)state;
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 10 * MS, REPORT(1, FAILED) },
            { 10 * MS, TRY(2, HEDGE) },
            { 10 * MS, WAIT(60 * MS, RUNNING) },
            { 60 * MS, TRY(3, HEDGE) },
            { 70 * MS, REPORT(3, THROTTLED) },
            { 70 * MS, WAIT(BIDE_FOREVER, RUNNING) }, /* 2 still runs */
            { 80 * MS, REPORT(2, WORKED) },
            { 80 * MS, DONE(SUCCESS) });
    expect_hedges(dep, 2, 1, 0);
    bide_dep_free(dep);
}

static void hedge_waits_for_a_pushback(void **state)
{
    bide_policy_conf conf = hedge_conf(2);

    (void)state;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 10 * MS, REPORT(1, FAILED, HINT(20 * MS)) },
         { 10 * MS, WAIT(30 * MS, ANY) },
         { 29 * MS, WAIT(30 * MS, ANY) },
         { 30 * MS, TRY(2, HINT) });
    /* the other one still runs: its own time has to wait as well */
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) },
         { 60 * MS, REPORT(2, THROTTLED, HINT(S)) },
         { 60 * MS, WAIT(1060 * MS, ANY) },
         { 100 * MS, WAIT(1060 * MS, ANY) },
         { 1060 * MS, TRY(3, HINT) });
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) },
         { 60 * MS, REPORT(2, THROTTLED, HINT(S)) },
         { 60 * MS, WAIT(1060 * MS, ANY) },
         { 100 * MS, REPORT(1, WORKED) },
         { 100 * MS, DONE(SUCCESS) });
}

static void hedge_pushback_too_long_leaves_the_running(void **state)
{
    bide_policy_conf conf = hedge_conf(2);

    (void)state;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) },
         { 60 * MS, REPORT(2, THROTTLED, HINT(301 * S)) },
         { 60 * MS, WAIT(BIDE_FOREVER, RUNNING) },
         { 200 * MS, WAIT(BIDE_FOREVER, RUNNING) },
         { 200 * MS, REPORT(1, WORKED) },
         { 200 * MS, DONE(SUCCESS) });
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 60 * MS, REPORT(1, THROTTLED, HINT(301 * S)) },
         { 60 * MS, DONE(HINT_TOO_LONG) });
}

/* What stopped the hedging is the reason, should the rest fail as well. */
static void hedge_stopped_once_says_why_in_the_end(void **state)
{
    bide_policy_conf conf = hedge_conf(4);
    bide_dep *dep = hedge_dep(&conf);

    (void)state;
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 100 * MS, TRY(3, HEDGE) },
            { 110 * MS, REPORT(2, THROTTLED, HINT(301 * S)) },
            { 110 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { 120 * MS, REPORT(3, FAILED) },
            { 120 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { 130 * MS, REPORT(1, FAILED) },
            { 130 * MS, DONE(HINT_TOO_LONG) });
    expect_hedges(dep, 2, 0, 1);
    bide_dep_free(dep);
}

static void hedge_fatal_failure_ends_the_call(void **state)
{
    bide_policy_conf conf = hedge_conf(2);
    bide_dep *dep = hedge_dep(&conf);

    (void)state;
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 10 * MS, REPORT(1, PERMANENT) },
            { 10 * MS, DONE(PERMANENT) });
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 60 * MS, REPORT(2, PERMANENT) },
            { 60 * MS, DONE(PERMANENT) },
            { 61 * MS, REPORT(1, WORKED) }, /* too late */
            { 61 * MS, DONE(PERMANENT) });
    assert_int_equal(script_stats(dep, S).late_successes, 0);
    assert_int_equal(script_stats(dep, S).failures, 2);
    bide_dep_free(dep);
}

/* "Do not retry" stops further hedges. The attempt that runs was sent before it
 * was said, and may well succeed. */
static void hedge_do_not_retry_leaves_the_other(void **state)
{
    bide_policy_conf conf = hedge_conf(2);
    bide_dep *dep = hedge_dep(&conf);

    (void)state;
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 60 * MS, REPORT(2, OVERLOADED) },
            { 60 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { 200 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { 300 * MS, REPORT(1, WORKED) },
            { 300 * MS, DONE(SUCCESS) });
    PLAY_ON(dep, GET,
            { S, TRY(1, FIRST) },
            { S + 50 * MS, TRY(2, HEDGE) },
            { S + 60 * MS, REPORT(2, FAILED, .refused = true) },
            { S + 60 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { S + 70 * MS, REPORT(1, FAILED) },
            { S + 70 * MS, DONE(SERVER_REFUSED) });
    bide_dep_free(dep);
}

static void hedge_all_failed_says_why(void **state)
{
    bide_policy_conf conf = hedge_conf(1);

    (void)state;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) },
         { 60 * MS, REPORT(1, FAILED) },
         { 60 * MS, WAIT(BIDE_FOREVER, RUNNING) },
         { 70 * MS, REPORT(2, TIMED_OUT) },
         { 70 * MS, DONE(ATTEMPTS) });
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.floor_per_s = 0;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 10 * MS, REPORT(1, FAILED) },
         { 10 * MS, DONE(BUDGET) });
    conf.budget.kind = BIDE_BUDGET_OFF;
    conf.limits.in_flight = 1;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 10 * MS, REPORT(1, FAILED) },
         { 10 * MS, BY(1), TRY(1, FIRST) },
         { 10 * MS, DONE(IN_FLIGHT) });
    conf.limits.in_flight = BIDE_UNLIMITED;
    conf.breaker.kind = BIDE_BREAKER_TIME;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 10 * MS, REPORT(1, FAILED) },
         { 10 * MS, FORCE(FORCED_OPEN) },
         { 10 * MS, DONE(BREAKER_OPEN) });
}

/* A hedge that was refused while nothing had failed was never owed: the attempt
 * beside it then fails by itself, and that is what is said. */
static void regress_hedge_refused_does_not_name_the_end(void **state)
{
    bide_policy_conf conf = hedge_conf(1);

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.floor_per_s = 0;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY_FOR(1, FIRST, 10 * S) },
         { 50 * MS, WAIT(BIDE_FOREVER, RUNNING) }, /* no budget for it */
         { 10 * S, REPORT(1, TIMED_OUT) },
         { 10 * S, DONE(ATTEMPTS) });
    conf.deadline_ns = 2 * S;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY_FOR(1, FIRST, 2 * S) },
         { 50 * MS, WAIT(BIDE_FOREVER, RUNNING) },
         { 2 * S, REPORT(1, TIMED_OUT) },
         { 2 * S, DONE(ATTEMPTS) });
    conf.budget.kind = BIDE_BUDGET_OFF;
    conf.limits.in_flight = 1;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, WAIT(BIDE_FOREVER, RUNNING) }, /* no place for it */
         { 60 * MS, REPORT(1, FAILED) },
         { 60 * MS, DONE(ATTEMPTS) });
    conf.limits.in_flight = BIDE_UNLIMITED;
    conf.breaker.kind = BIDE_BREAKER_TIME;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, FORCE(FORCED_OPEN) },
         { 50 * MS, WAIT(BIDE_FOREVER, RUNNING) },
         { 60 * MS, REPORT(1, FAILED) },
         { 60 * MS, DONE(ATTEMPTS) });
}

static void hedge_in_line_leaves_the_other(void **state)
{
    bide_policy_conf conf = hedge_conf(1);

    (void)state;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) },
         { 10 * S, REPORT(1, NO_LINK) },
         { 10 * S, WAIT(BIDE_FOREVER, RUNNING) },
         { 10 * S, REPORT(2, WORKED) },
         { 10 * S, DONE(SUCCESS) });
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) },
         { 60 * MS, REPORT(2, NO_LINK) },
         { 10 * S, REPORT(1, TIMED_OUT) },
         { 10 * S, DONE(ATTEMPTS) });
    /* The hedge is for what the dependency is slow with. */
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 40 * MS, STARTED(1, 10 * S) },
         { 60 * MS, WAIT(90 * MS, RUNNING) },
         { 90 * MS, TRY(2, HEDGE) });
}

static void hedge_loser_is_neutral_for_the_breaker(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep;

    (void)state;
    conf.breaker.kind = BIDE_BREAKER_COUNT;
    conf.breaker.window_calls = 4;
    conf.breaker.min_calls = 4;
    conf.breaker.failure_rate = 0.25;
    dep = hedge_dep(&conf);
    for (int i = 0; i < 20; i++)
        PLAY_ON(dep, GET,
                { 0, TRY(1, FIRST) },
                { 50 * MS, TRY(2, HEDGE) },
                { 60 * MS, REPORT(2, WORKED) },
                { 60 * MS, DONE(SUCCESS) },
                { 60 * MS, REPORT(1, IGNORED) },
                { 60 * MS, BREAKER(CLOSED) });
    bide_dep_free(dep);
}

static void hedge_loser_reports_after_done(void **state)
{
    bide_policy_conf conf = hedge_conf(2);
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.limits.in_flight = 3;
    dep = hedge_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 100 * MS, TRY(3, HEDGE) },
            { 110 * MS, REPORT(2, WORKED) },
            { 110 * MS, REPORT(3, WORKED) }, /* before it was told DONE */
            { 110 * MS, DONE(SUCCESS) },
            { 120 * MS, REPORT(1, FAILED) },
            { 120 * MS, REPORT_RC(1, BIDE_ESTATE, FAILED) },
            { 120 * MS, REPORT_RC(2, BIDE_ESTATE, FAILED) },
            { 120 * MS, DONE(SUCCESS) });
    s = script_stats(dep, S);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.attempts, 3);
    assert_int_equal(s.hedges_won, 1);
    assert_int_equal(s.late_successes, 1);
    assert_int_equal(s.done[BIDE_BECAUSE_SUCCESS], 1);
    assert_int_equal(s.call_time.count, 1);
    bide_dep_free(dep);
}

static void hedge_permits_of_losers_come_back_at_the_end(void **state)
{
    bide_policy_conf conf = hedge_conf(1);

    (void)state;
    conf.limits.in_flight = 2;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) },
         { 50 * MS, BY(1), DONE(IN_FLIGHT) },
         { 60 * MS, REPORT(2, WORKED) },
         { 60 * MS, DONE(SUCCESS) },
         { 60 * MS, END },
         { 60 * MS, BY(2), TRY(1, FIRST) },
         { 60 * MS, BY(3), TRY(1, FIRST) });
}

static void hedge_ignored_original_leaves_the_hedge(void **state)
{
    bide_policy_conf conf = hedge_conf(2);

    (void)state;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) },
         { 60 * MS, REPORT(1, IGNORED) },
         { 60 * MS, DONE(CANCELLED) });
}

/* A failure whose hint must be waited for, and another failure meanwhile. */
static void hedge_granted_one_waits_while_another_fails(void **state)
{
    bide_policy_conf conf = hedge_conf(2);
    bide_dep *dep;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_IN_FLIGHT;
    conf.budget.min_in_flight = 2;
    conf.budget.ratio = 0;
    dep = hedge_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 60 * MS, REPORT(2, FAILED, HINT(100 * MS)) },
            { 60 * MS, WAIT(160 * MS, ANY) },
            { 70 * MS, REPORT(1, FAILED) },
            { 70 * MS, WAIT(160 * MS, ANY) }, /* pushed back is pushed back */
            { 160 * MS, TRY(3, ANY) },
            { 160 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { 170 * MS, REPORT(3, FAILED) },
            { 170 * MS, DONE(ATTEMPTS) });
    /* ... and a longer pushback meanwhile */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 60 * MS, REPORT(2, FAILED, HINT(100 * MS)) },
            { 60 * MS, WAIT(160 * MS, ANY) },
            { 70 * MS, REPORT(1, FAILED, HINT(S)) },
            { 70 * MS, WAIT(1070 * MS, ANY) },
            { 1070 * MS, TRY(3, ANY) });
    /* ... or one that is too long */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 60 * MS, REPORT(2, FAILED, HINT(100 * MS)) },
            { 60 * MS, WAIT(160 * MS, ANY) },
            { 60 * MS, LEFT(1) },
            { 70 * MS, REPORT(1, FAILED, HINT(301 * S)) },
            { 70 * MS, DONE(HINT_TOO_LONG) },
            { 70 * MS, LEFT(2) });
    /* ... and a success meanwhile */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 60 * MS, REPORT(2, FAILED, HINT(100 * MS)) },
            { 60 * MS, WAIT(160 * MS, ANY) },
            { 70 * MS, REPORT(1, WORKED) },
            { 70 * MS, DONE(SUCCESS) },
            { 70 * MS, LEFT(2) });
    /* ... and a fatal failure */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 60 * MS, REPORT(2, FAILED, HINT(100 * MS)) },
            { 60 * MS, WAIT(160 * MS, ANY) },
            { 70 * MS, REPORT(1, PERMANENT) },
            { 70 * MS, DONE(PERMANENT) },
            { 70 * MS, LEFT(2) });
    bide_dep_free(dep);
}

/* Failures may come in twos before the driver asks: none is forgotten. */
static void regress_hedge_failures_reported_together(void **state)
{
    bide_policy_conf conf = hedge_conf(2);

    (void)state;
    PLAY_HEDGE(&conf, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 60 * MS, REPORT(1, PERMANENT) },
            { 60 * MS, REPORT(2, FAILED) },
            { 60 * MS, DONE(PERMANENT) });
    PLAY_HEDGE(&conf, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 60 * MS, REPORT(1, FAILED, HINT(S)) },
            { 60 * MS, REPORT(2, FAILED) },
            { 60 * MS, WAIT(1060 * MS, ANY) },
            { 1060 * MS, TRY(3, ANY) },
            { 1061 * MS, REPORT(3, FAILED) },
            { 1061 * MS, DONE(ATTEMPTS) });
    /* a good answer that is there is taken */
    PLAY_HEDGE(&conf, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 60 * MS, REPORT(1, PERMANENT) },
            { 60 * MS, REPORT(2, WORKED) },
            { 60 * MS, DONE(SUCCESS) });
}

/* What is sent after a failure with a pushback is a hedge, too. */
static void regress_hedge_after_a_pushback_is_counted_as_one(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep = hedge_dep(&conf);
    bide_stats s;

    (void)state;
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 10 * MS, REPORT(1, FAILED, HINT(20 * MS)) },
            { 10 * MS, WAIT(30 * MS, HINT) },
            { 30 * MS, TRY(2, HINT) },
            { 40 * MS, REPORT(2, WORKED) },
            { 40 * MS, DONE(SUCCESS) });
    expect_hedges(dep, 1, 1, 0);
    s = script_stats(dep, S);
    assert_int_equal(s.wait_computed.count, 0);
    assert_int_equal(s.wait_slept.count, 0);
    bide_dep_free(dep);
}

/* A call is counted once, whichever of its attempts wins. */
static void regress_hedge_call_time_counts_each_call_once(void **state)
{
    bide_policy_conf conf = hedge_conf(1);

    (void)state;
    for (int measured = 0; measured <= 1; measured++) {
        bide_dep *dep;
        bide_stats s;

        conf.latency.measure = measured;
        dep = hedge_dep(&conf);
        PLAY_ON(dep, GET, /* the original wins */
                { 0, TRY(1, FIRST) },
                { 50 * MS, TRY(2, HEDGE) },
                { 60 * MS, REPORT(1, WORKED) },
                { 60 * MS, DONE(SUCCESS) });
        s = script_stats(dep, S);
        assert_int_equal(s.attempt_time.count, measured);
        assert_int_equal(s.call_time.count, measured);
        PLAY_ON(dep, GET, /* the hedge wins */
                { 0, TRY(1, FIRST) },
                { 50 * MS, TRY(2, HEDGE) },
                { 60 * MS, REPORT(2, WORKED) },
                { 60 * MS, DONE(SUCCESS) });
        s = script_stats(dep, S);
        assert_int_equal(s.attempt_time.count, measured + 1);
        assert_int_equal(s.call_time.count, measured + 1);
        bide_dep_free(dep);
    }
}

/* A first attempt may have another number; it is no hedge that wins then. */
static void regress_hedge_of_a_call_that_goes_on(void **state)
{
    bide_policy_conf conf = hedge_conf(4);
    bide_op op = { .idempotent = true, .attempts_made = 2 };
    bide_dep *dep = hedge_dep(&conf);

    (void)state;
    PLAY_ON(dep, &op,
            { 0, TRY(3, FIRST) },
            { 60 * MS, REPORT(3, WORKED) },
            { 60 * MS, DONE(SUCCESS) });
    expect_hedges(dep, 0, 0, 0);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hedge_original_wins_after_all),
        cmocka_unit_test(hedge_nonfatal_failure_sends_the_next_at_once),
        cmocka_unit_test(hedge_waits_for_a_pushback),
        cmocka_unit_test(hedge_pushback_too_long_leaves_the_running),
        cmocka_unit_test(hedge_stopped_once_says_why_in_the_end),
        cmocka_unit_test(hedge_fatal_failure_ends_the_call),
        cmocka_unit_test(hedge_do_not_retry_leaves_the_other),
        cmocka_unit_test(hedge_all_failed_says_why),
        cmocka_unit_test(regress_hedge_refused_does_not_name_the_end),
        cmocka_unit_test(hedge_in_line_leaves_the_other),
        cmocka_unit_test(hedge_loser_is_neutral_for_the_breaker),
        cmocka_unit_test(hedge_loser_reports_after_done),
        cmocka_unit_test(hedge_permits_of_losers_come_back_at_the_end),
        cmocka_unit_test(hedge_ignored_original_leaves_the_hedge),
        cmocka_unit_test(hedge_granted_one_waits_while_another_fails),
        cmocka_unit_test(regress_hedge_failures_reported_together),
        cmocka_unit_test(regress_hedge_after_a_pushback_is_counted_as_one),
        cmocka_unit_test(regress_hedge_call_time_counts_each_call_once),
        cmocka_unit_test(regress_hedge_of_a_call_that_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
