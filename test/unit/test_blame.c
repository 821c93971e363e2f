/* test_blame.c: an attempt counts against a dependency only for what the
 * dependency did with time that it was given. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

/* One failure opens the breaker: it shows what was held against the dependency. */
static bide_policy_conf touchy_conf(void)
{
    bide_policy_conf conf = breaker_conf(1);

    conf.attempt_timeout_ns = 10 * S;
    conf.attempts = 4;
    return conf;
}

static const bide_op hasty = { .idempotent = true, .deadline_ns = 5 * MS };
static const bide_op patient = { .idempotent = true, .deadline_ns = 9500 * MS };
static const bide_op five_seconds = { .idempotent = true,
                                      .deadline_ns = 5 * S };

/* ===== the caller's deadline ===== */

static void blame_timeout_clipped_by_the_caller_is_neutral(void **state)
{
    bide_policy_conf conf = touchy_conf();

    (void)state;
    PLAY(&conf, &hasty,
         { 0, TRY_FOR(1, FIRST, 5 * MS) },
         { 5 * MS, REPORT(1, TIMED_OUT) },
         { 5 * MS, DONE(CLIENT_TIMEOUT) },
         { 5 * MS, BREAKER(CLOSED) });
    /* Whatever it is: the caller's time decides before all else. */
    PLAY(&conf, POST,
         { 0, BEGIN(&(bide_op){ .deadline_ns = 5 * MS }) },
         { 0, TRY_FOR(1, FIRST, 5 * MS) },
         { 6 * MS, REPORT(1, TIMED_OUT) },
         { 6 * MS, DONE(CLIENT_TIMEOUT) },
         { 6 * MS, BREAKER(CLOSED) });
    /* A gateway that was told the deadline says 504 when it is over. */
    PLAY(&conf, &hasty,
         { 0, TRY_FOR(1, FIRST, 5 * MS) },
         { 5 * MS, REPORT(1, .cls = BIDE_TRANSIENT, .status = 504) },
         { 5 * MS, DONE(CLIENT_TIMEOUT) },
         { 5 * MS, BREAKER(CLOSED) });
}

static void blame_other_failures_of_a_clipped_attempt_count(void **state)
{
    bide_policy_conf conf = touchy_conf();

    (void)state;
    PLAY(&conf, &hasty,
         { 0, TRY(1, FIRST) },
         { 5 * MS, REPORT(1, FAILED) },
         { 5 * MS, DONE(DEADLINE) },
         { 5 * MS, BREAKER(OPEN) });
    PLAY(&conf, &hasty,
         { 0, TRY(1, FIRST) },
         { 4 * MS, REPORT(1, UNCONNECTED) },
         { 4 * MS, DONE(DEADLINE) },
         { 4 * MS, BREAKER(OPEN) });
    /* A timeout of the driver's own, that of connecting say, and not the
     * caller's. */
    PLAY(&conf, &five_seconds,
         { 0, TRY_FOR(1, FIRST, 5 * S) },
         { 1 * S, REPORT(1, TIMED_OUT) },
         { 1 * S, BREAKER(OPEN) });
}

static void blame_timeout_after_the_policys_time_counts(void **state)
{
    bide_policy_conf conf = touchy_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY_FOR(1, FIRST, 10 * S) },
         { 10 * S, REPORT(1, TIMED_OUT) },
         { 10 * S, BREAKER(OPEN) });
    /* Nine tenths are enough: a layer above with the same policy gives as much.
     */
    PLAY(&conf, &patient,
         { 0, TRY_FOR(1, FIRST, 9500 * MS) },
         { 9500 * MS, REPORT(1, TIMED_OUT) },
         { 9500 * MS, DONE(DEADLINE) },
         { 9500 * MS, BREAKER(OPEN) });
    /* The report came late; the dependency had all the time that there is. */
    PLAY(&conf, &hasty,
         { 0, TRY_FOR(1, FIRST, 5 * MS) },
         { 10 * S, REPORT(1, TIMED_OUT) },
         { 10 * S, BREAKER(OPEN) });
}

/* ===== the policy's deadline ===== */

/* The policy gave the last retry so little: the dependency has had the rest. */
static void blame_last_retry_before_the_policys_deadline_counts(void **state)
{
    bide_policy_conf conf = touchy_conf();

    (void)state;
    conf.breaker.consecutive = 2;
    conf.deadline_ns = 2 * S;
    PLAY(&conf, GET,
         { 0, TRY_FOR(1, FIRST, 2 * S) },
         { 1890 * MS, REPORT(1, FAILED) },
         { 1890 * MS, WAIT(1990 * MS, BACKOFF) },
         { 1990 * MS, TRY_FOR(2, BACKOFF, 10 * MS) },
         { 2000 * MS, REPORT(2, TIMED_OUT) },
         { 2000 * MS, DONE(DEADLINE) },
         { 2000 * MS, BREAKER(OPEN) });
}

static void blame_deadline_that_was_ours_is_neutral(void **state)
{
    bide_policy_conf conf = touchy_conf();

    (void)state;
    conf.deadline_ns = 2 * S;
    /* The client took its time to deliver the body. */
    PLAY(&conf, GET,
         { 0, BEGIN(GET) },
         { 1990 * MS, TRY_FOR(1, FIRST, 10 * MS) },
         { 2000 * MS, REPORT(1, TIMED_OUT) },
         { 2000 * MS, DONE(DEADLINE) },
         { 2000 * MS, BREAKER(CLOSED) });
    /* It stood in line for a connection. */
    PLAY(&conf, GET,
         { 0, TRY_FOR(1, FIRST, 2 * S) },
         { 1990 * MS, STARTED(1, 10 * MS) },
         { 2000 * MS, REPORT(1, TIMED_OUT) },
         { 2000 * MS, DONE(DEADLINE) },
         { 2000 * MS, BREAKER(CLOSED) });
    /* A millisecond of ours makes no difference. */
    PLAY(&conf, GET,
         { 0, BEGIN(GET) },
         { 1 * MS, TRY_FOR(1, FIRST, 1999 * MS) },
         { 2000 * MS, REPORT(1, TIMED_OUT) },
         { 2000 * MS, BREAKER(OPEN) });
}

static void blame_retry_after_time_of_ours_is_neutral(void **state)
{
    bide_policy_conf conf = touchy_conf();

    (void)state;
    conf.breaker.consecutive = 2;
    conf.deadline_ns = 2 * S;
    PLAY(&conf, GET,
         { 0, BEGIN(GET) },
         { 1800 * MS, TRY_FOR(1, FIRST, 200 * MS) },
         { 1850 * MS, REPORT(1, FAILED) },
         { 1850 * MS, WAIT(1950 * MS, BACKOFF) },
         { 1950 * MS, TRY_FOR(2, BACKOFF, 50 * MS) },
         { 2000 * MS, REPORT(2, TIMED_OUT) },
         { 2000 * MS, DONE(DEADLINE) },
         { 2000 * MS, BREAKER(CLOSED) });
    PLAY(&conf, GET, /* the retry stands in line */
         { 0, TRY(1, FIRST) },
         { 100 * MS, REPORT(1, FAILED) },
         { 100 * MS, WAIT(200 * MS, BACKOFF) },
         { 200 * MS, TRY_FOR(2, BACKOFF, 1800 * MS) },
         { 1990 * MS, STARTED(2, 10 * MS) },
         { 2000 * MS, REPORT(2, TIMED_OUT) },
         { 2000 * MS, DONE(DEADLINE) },
         { 2000 * MS, BREAKER(CLOSED) });
}

/* ===== what is ours ===== */

static void blame_upload_that_stalls_is_neutral(void **state)
{
    bide_policy_conf conf = touchy_conf();

    (void)state;
    PLAY(&conf, POST,
         { 0, TRY(1, FIRST) },
         { 3 * S, REPORT(1, STALLED) },
         { 3 * S, DONE(UPLOAD) },
         { 3 * S, BREAKER(CLOSED) });
    /* A rule that makes something else of it does not shift the blame. */
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 3 * S, REPORT(1, .cls = BIDE_TRANSIENT,
                         .fault = BIDE_FAULT_UPLOAD) },
         { 3 * S, DONE(UPLOAD) },
         { 3 * S, BREAKER(CLOSED) });
}

static void blame_place_in_line_is_neutral(void **state)
{
    bide_policy_conf conf = touchy_conf();

    (void)state;
    PLAY(&conf, POST,
         { 0, TRY(1, FIRST) },
         { 10 * S, REPORT(1, NO_LINK) },
         { 10 * S, DONE(CONNECTION_WAIT) },
         { 10 * S, BREAKER(CLOSED) });
}

static void blame_answer_too_long_for_us_is_neutral(void **state)
{
    bide_policy_conf conf = touchy_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 1 * S, REPORT(1, .cls = BIDE_PERMANENT,
                         .fault = BIDE_FAULT_TOO_LONG) },
         { 1 * S, DONE(PERMANENT) },
         { 1 * S, BREAKER(CLOSED) });
}

static void blame_time_begins_with_the_connection(void **state)
{
    bide_policy_conf conf = touchy_conf();
    bide_dep *dep;
    bide_stats s;

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY_FOR(1, FIRST, 10 * S) },
         { 4 * S, STARTED(1, 10 * S) },
         { 14 * S, REPORT(1, TIMED_OUT) },
         { 14 * S, BREAKER(OPEN) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, .rc = BIDE_ESTATE, STARTED(2, -1) },
         { 1, REPORT(1, WORKED) },
         { 1, .rc = BIDE_ESTATE, STARTED(1, -1) });
    conf.breaker.slow_ns = S;
    conf.breaker.slow_rate = 0.5;
    conf.breaker.min_calls = 1;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 4 * S, STARTED(1, 10 * S) },
            { 4 * S + 20 * MS, REPORT(1, WORKED) },
            { 4 * S + 20 * MS, BREAKER(CLOSED) });
    s = script_stats(dep, 5 * S);
    assert_int_equal(s.attempt_time.count, 1);
    assert_in_range(s.attempt_time.sum_ns, 18 * MS, 22 * MS);
    bide_dep_free(dep);
}

/* A clock that steps back neither gives time nor takes it. */
static void blame_clock_that_steps_back_does_no_harm(void **state)
{
    bide_policy_conf conf = touchy_conf();

    (void)state;
    PLAY(&conf, GET,
         { 5 * S, TRY(1, FIRST) },
         { 1 * S, STARTED(1, 10 * S) },
         { 15 * S, REPORT(1, TIMED_OUT) },
         { 15 * S, BREAKER(OPEN) });
}

/* ===== everything else that counts ===== */

static void blame_neutral_probe_gives_its_place_back(void **state)
{
    bide_policy_conf conf = touchy_conf();
    bide_dep *dep;

    (void)state;
    conf.breaker.probes = 1;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, BREAKER(OPEN) });
    PLAY_ON(dep, GET,
            { 11 * S, TRY(1, FIRST) },
            { 12 * S, STARTED(1, 10 * S) },
            { 13 * S, REPORT(1, NO_LINK) },
            { 13 * S, BREAKER(HALF_OPEN) },
            { 13 * S, BY(1), TRY(1, FIRST) },
            { 22 * S, BY(1), STARTED(1, 10 * S) },
            /* It keeps its place for as long as a probe may take from then. */
            { 24 * S, BY(2), DONE(BREAKER_OPEN) },
            { 25 * S, BY(1), REPORT(1, WORKED) },
            { 25 * S, BREAKER(CLOSED) });
    bide_dep_free(dep);
}

static void blame_neutral_leaves_budgets_alone(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_THROTTLE;
    conf.budget.max_tokens = 4;
    dep = script_dep(&conf);
    for (int i = 0; i < 20; i++)
        PLAY_ON(dep, &hasty,
                { 0, TRY(1, FIRST) },
                { 5 * MS, REPORT(1, TIMED_OUT) },
                { 5 * MS, DONE(CLIENT_TIMEOUT) },
                { 5 * MS, BY(1), BEGIN(POST) },
                { 5 * MS, BY(1), TRY(1, FIRST) },
                { 5 * MS, BY(1), REPORT(1, STALLED) },
                { 5 * MS, LEFT(1) });
    bide_dep_free(dep);
}

static void blame_neutral_is_no_refused_request(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;

    (void)state;
    conf.limits.adaptive_throttle = true;
    dep = script_dep(&conf);
    for (int i = 0; i < 200; i++)
        PLAY_ON(dep, &hasty,
                { 0, TRY(1, FIRST) },
                { 5 * MS, REPORT(1, TIMED_OUT) },
                { 5 * MS, DONE(CLIENT_TIMEOUT) },
                { 5 * MS, BY(1), BEGIN(GET) },
                { 5 * MS, BY(1), TRY(1, FIRST) },
                { 5 * MS, BY(1), REPORT(1, IGNORED) });
    bide_dep_free(dep);
}

static void blame_neutral_is_counted_as_ignored(void **state)
{
    bide_policy_conf conf = touchy_conf();
    bide_dep *dep = script_dep(&conf);
    bide_stats s;

    (void)state;
    PLAY_ON(dep, &hasty,
            { 0, TRY(1, FIRST) },
            { 5 * MS, REPORT(1, TIMED_OUT) },
            { 5 * MS, DONE(CLIENT_TIMEOUT) });
    s = script_stats(dep, S);
    assert_int_equal(s.by_class[BIDE_IGNORED], 1);
    assert_int_equal(s.by_class[BIDE_TRANSIENT], 0);
    assert_int_equal(s.done[BIDE_BECAUSE_CLIENT_TIMEOUT], 1);
    bide_dep_free(dep);
}

/* For those who keep books of their own: what will count, before it is said. */
static void blame_is_told_before_the_report(void **state)
{
    static const struct {
        int64_t at_ns;
        bide_outcome out;
        bide_class cls;
    } rows[] = {
        { 1 * MS, { WORKED }, BIDE_SUCCESS },
        { 1 * MS, { FAILED }, BIDE_TRANSIENT },
        { 1 * MS, { TIMED_OUT }, BIDE_TRANSIENT }, /* to connect, say */
        { 5 * MS, { TIMED_OUT }, BIDE_IGNORED },
        { 10 * S, { TIMED_OUT }, BIDE_TRANSIENT },
        { 5 * MS, { STALLED }, BIDE_IGNORED },
        { 5 * MS, { NO_LINK }, BIDE_IGNORED },
        { 1 * MS, { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_LOCAL },
          BIDE_IGNORED },
        { 5 * MS, { PERMANENT }, BIDE_PERMANENT },
    };
    bide_policy_conf conf = touchy_conf();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep = script_dep(&conf);
        bide_call call;
        bide_outcome seen;

        bide_call_begin(&call, dep, &hasty, 0);
        bide_call_next(&call, 0);
        seen = bide_call_blame(&call, 1, &rows[i].out, rows[i].at_ns);
        assert_int_equal(seen.cls, rows[i].cls);
        assert_int_equal(seen.fault, rows[i].out.fault);
        bide_call_end(&call, rows[i].at_ns);
        bide_dep_free(dep);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blame_timeout_clipped_by_the_caller_is_neutral),
        cmocka_unit_test(blame_other_failures_of_a_clipped_attempt_count),
        cmocka_unit_test(blame_timeout_after_the_policys_time_counts),
        cmocka_unit_test(blame_last_retry_before_the_policys_deadline_counts),
        cmocka_unit_test(blame_deadline_that_was_ours_is_neutral),
        cmocka_unit_test(blame_retry_after_time_of_ours_is_neutral),
        cmocka_unit_test(blame_upload_that_stalls_is_neutral),
        cmocka_unit_test(blame_place_in_line_is_neutral),
        cmocka_unit_test(blame_answer_too_long_for_us_is_neutral),
        cmocka_unit_test(blame_time_begins_with_the_connection),
        cmocka_unit_test(blame_clock_that_steps_back_does_no_harm),
        cmocka_unit_test(blame_neutral_probe_gives_its_place_back),
        cmocka_unit_test(blame_neutral_leaves_budgets_alone),
        cmocka_unit_test(blame_neutral_is_no_refused_request),
        cmocka_unit_test(blame_neutral_is_counted_as_ignored),
        cmocka_unit_test(blame_is_told_before_the_report),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
