/* test_call.c: the plain course of a call, odd clocks, and the rest of its
 * face. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

/* ===== the plain course of things ===== */

static void call_success_is_done(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, POST,
         { 0, TRY_FOR(1, FIRST, 10 * S) },
         { 5 * MS, REPORT(1, WORKED) },
         { 5 * MS, DONE(SUCCESS) });
}

static void call_four_attempts_then_done(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY_FOR(1, FIRST, 10 * S) },
         { 0, WAIT(BIDE_FOREVER, RUNNING) },
         { 1 * MS, REPORT(1, FAILED) },
         { 1 * MS, WAIT(101 * MS, BACKOFF) },
         { 101 * MS, TRY_FOR(2, BACKOFF, 10 * S) },
         { 102 * MS, REPORT(2, TIMED_OUT) },
         { 102 * MS, WAIT(302 * MS, BACKOFF) },
         { 302 * MS, TRY(3, BACKOFF) },
         { 303 * MS, REPORT(3, THROTTLED) },
         { 303 * MS, WAIT(703 * MS, BACKOFF) },
         { 703 * MS, TRY(4, BACKOFF) },
         { 704 * MS, REPORT(4, FAILED) },
         { 704 * MS, DONE(ATTEMPTS) });
}

static void call_zero_wait_tries_at_once(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.backoff.base_ns = 0;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 1, REPORT(1, FAILED) },
         { 1, TRY(2, BACKOFF) },
         { 2, REPORT(2, FAILED) },
         { 2, TRY(3, BACKOFF) });
}

static void call_asked_often_answers_the_same(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.backoff.jitter = BIDE_JITTER_FULL;
    dep = script_dep(&conf);
    for (int round = 0; round < 5; round++) {
        bide_call call;
        bide_decision d, e;

        bide_call_begin(&call, dep, GET, 0);
        d = bide_call_next(&call, 0);
        assert_int_equal(d.action, BIDE_TRY);
        for (int i = 0; i < 9; i++) {
            d = bide_call_next(&call, i);
            assert_int_equal(d.action, BIDE_WAIT);
            assert_int_equal(d.reason, BIDE_BECAUSE_RUNNING);
            assert_true(d.at_ns == BIDE_FOREVER);
        }
        bide_call_report(&call, 1, &(bide_outcome){ FAILED }, 10);
        d = bide_call_next(&call, 10);
        assert_int_equal(d.action, BIDE_WAIT);
        for (int64_t t = 11; t < d.at_ns; t += d.at_ns / 7 + 1) {
            e = bide_call_next(&call, t);
            assert_int_equal(e.action, BIDE_WAIT);
            assert_true(e.at_ns == d.at_ns);
            assert_int_equal(e.reason, BIDE_BECAUSE_BACKOFF);
        }
        bide_call_cancel(&call);
        for (int i = 0; i < 3; i++) {
            e = bide_call_next(&call, d.at_ns);
            assert_int_equal(e.action, BIDE_DONE);
            assert_int_equal(e.reason, BIDE_BECAUSE_CANCELLED);
        }
        bide_call_end(&call, d.at_ns);
    }
    s = script_stats(dep, 0);
    assert_int_equal(s.calls, 5);
    assert_int_equal(s.attempts, 5);
    assert_int_equal(s.done[BIDE_BECAUSE_CANCELLED], 5);
    assert_int_equal(s.retries_dropped, 5);
    assert_int_equal(s.budget_left, 10);
    bide_dep_free(dep);
}

/* ===== odd clocks ===== */

static void call_clock_stands_still_or_steps_back(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 9 * S, TRY(1, FIRST) },
         { 5 * S, WAIT(BIDE_FOREVER, RUNNING) },
         { 5 * S, REPORT(1, FAILED) },
         { 5 * S, WAIT(5 * S + 100 * MS, BACKOFF) },
         { 5 * S, WAIT(5 * S + 100 * MS, BACKOFF) },
         { 1 * S, WAIT(5 * S + 100 * MS, BACKOFF) },
         { 5 * S + 100 * MS - 1, WAIT(5 * S + 100 * MS, BACKOFF) },
         { 5 * S + 100 * MS, TRY(2, BACKOFF) },
         { 0, REPORT(2, WORKED) },
         { 0, DONE(SUCCESS) });
}

static void call_clock_steps_back_deadline_stays(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.deadline_ns = S;
    PLAY(&conf, GET,
         { 9 * S, BEGIN(NULL) },
         { 8 * S, TRY_FOR(1, FIRST, 2 * S) },
         { 1 * S, REPORT(1, FAILED) },
         { 9 * S, WAIT(9 * S + 100 * MS, BACKOFF) });
}

static void call_negative_clock_is_a_clock_at_zero(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    (void)state;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    PLAY(&conf, GET,
         { -5 * S, TRY(1, FIRST) },
         { INT64_MIN, WAIT(BIDE_FOREVER, RUNNING) },
         { -4 * S, REPORT(1, FAILED) },
         { INT64_MIN, WAIT(100 * MS, BACKOFF) },
         { -1, WAIT(100 * MS, BACKOFF) },
         { 100 * MS, TRY(2, BACKOFF) },
         { INT64_MIN, REPORT(2, WORKED) },
         { INT64_MIN, DONE(SUCCESS) },
         { INT64_MIN, END });
}

static void call_clock_at_its_end_saturates(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_op op = { .idempotent = true, .deadline_ns = BIDE_FOREVER };

    (void)state;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    PLAY(&conf, GET,
         { INT64_MAX, TRY(1, FIRST) },
         { INT64_MAX, REPORT(1, FAILED) },
         { INT64_MAX, TRY(2, BACKOFF) }, /* the wait is over before it began */
         { INT64_MAX, REPORT(2, WORKED) },
         { INT64_MAX, DONE(SUCCESS) });
    PLAY(&conf, &op,
         { INT64_MAX - 1, TRY(1, FIRST) },
         { INT64_MAX - 1, REPORT(1, FAILED) },
         { INT64_MAX - 1, WAIT(BIDE_FOREVER, BACKOFF) });
    conf.deadline_ns = S;
    PLAY(&conf, GET, { INT64_MAX - 5, TRY(1, FIRST) });
}

static void call_op_rng_is_used(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_rng_seeded a, b;
    bide_rng rng = bide_rng_seed(&a, 5), twin = bide_rng_seed(&b, 5);
    bide_op op = { .idempotent = true, .rng = &rng };
    bide_dep *dep;

    (void)state;
    conf.backoff.jitter = BIDE_JITTER_FULL;
    dep = script_dep(&conf);
    for (int i = 0; i < 10; i++) {
        int64_t want = bide_backoff_wait(&conf.backoff, 0, 0, &twin);

        PLAY_ON(dep, &op,
                { 0, TRY(1, FIRST) },
                { 0, REPORT(1, FAILED) },
                { 0, WAIT(want, BACKOFF) });
    }
    bide_dep_free(dep);
}

/* ===== the rest of the face ===== */

/* A driver that learns the method only while the first attempt runs. */
static void call_set_op_holds_from_the_next_decision(void **state)
{
    (void)state;
    static const struct {
        bide_op op;
        bide_reason reason;
    } rows[] = {
        { { .idempotent = true }, BIDE_BECAUSE_BACKOFF },
        { { .has_key = true }, BIDE_BECAUSE_BACKOFF },
        { { .idempotent = true, .one_shot_body = true },
          BIDE_BECAUSE_NOT_REPLAYABLE },
        { { .deadline_ns = 1 }, BIDE_BECAUSE_NOT_IDEMPOTENT },
    };
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_call call;
        bide_outcome failed = { FAILED };
        bide_call_begin(&call, dep, NULL, 0);
        assert_int_equal(bide_call_next(&call, 0).action, BIDE_TRY);
        bide_call_set_op(&call, &rows[i].op);
        bide_call_set_op(&call, NULL);
        assert_int_equal(bide_call_report(&call, 1, &failed, MS), 0);
        assert_int_equal(bide_call_next(&call, MS).reason, rows[i].reason);
        bide_call_end(&call, MS);
    }
    bide_dep_free(dep);
}

static void call_null_arguments_do_no_harm(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);
    bide_call call;

    (void)state;
    bide_call_begin(&call, dep, NULL, 0);
    assert_int_equal(bide_call_verdict(&call, NULL), BIDE_EINVAL);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

static void call_size_is_within_its_bound(void **state)
{
    (void)state;
    assert_true(sizeof(bide_call) <= 256);
}

static void call_reasons_have_names_and_words(void **state)
{
    (void)state;
    for (int r = 0; r < BIDE_N_REASONS; r++) {
        assert_non_null(bide_reason_name((bide_reason)r));
        assert_non_null(bide_reason_text((bide_reason)r));
        for (int q = 0; q < r; q++)
            assert_string_not_equal(bide_reason_name((bide_reason)r),
                                    bide_reason_name((bide_reason)q));
    }
    assert_string_equal(bide_reason_name(BIDE_BECAUSE_HINT_TOO_LONG),
                        "hint_too_long");
    assert_null(bide_reason_name(BIDE_N_REASONS));
    assert_null(bide_reason_text(BIDE_N_REASONS));
    assert_string_equal(bide_reason_name((bide_reason)BIDE_ESIZE),
                        "BIDE_ESIZE");
    assert_string_equal(bide_reason_text((bide_reason)BIDE_ESIZE),
                        bide_strerror(BIDE_ESIZE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_success_is_done),
        cmocka_unit_test(call_four_attempts_then_done),
        cmocka_unit_test(call_zero_wait_tries_at_once),
        cmocka_unit_test(call_asked_often_answers_the_same),
        cmocka_unit_test(call_clock_stands_still_or_steps_back),
        cmocka_unit_test(call_clock_steps_back_deadline_stays),
        cmocka_unit_test(call_negative_clock_is_a_clock_at_zero),
        cmocka_unit_test(call_clock_at_its_end_saturates),
        cmocka_unit_test(call_op_rng_is_used),
        cmocka_unit_test(call_set_op_holds_from_the_next_decision),
        cmocka_unit_test(call_null_arguments_do_no_harm),
        cmocka_unit_test(call_size_is_within_its_bound),
        cmocka_unit_test(call_reasons_have_names_and_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
