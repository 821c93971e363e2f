/* test_retries_off.c: the switch that turns retries and hedges off. */
#include "bide/error.h"
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void retries_off_ends_calls_that_fail(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, RETRIES(false) },
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, DONE(RETRIES_OFF) },
         { 0, TRY(1, FIRST), BY(1) },
         { 0, REPORT(1, WORKED), BY(1) },
         { 0, DONE(SUCCESS), BY(1) },
         { 0, RETRIES(true) },
         { 0, TRY(1, FIRST), BY(2) },
         { 0, REPORT(1, FAILED), BY(2) },
         { 0, WAIT(100 * MS, BACKOFF), BY(2) });
}

/* Nobody waits for longer than before, and no retry is sent any more; what it
 * paid is given back. */
static void retries_off_ends_calls_that_wait(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    PLAY(&conf, GET,
         { 0, LEFT(10) },
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 0, LEFT(9) },
         { 50 * MS, RETRIES(false) },
         { 50 * MS, WAIT(100 * MS, BACKOFF) },
         { 100 * MS, DONE(RETRIES_OFF) },
         { 100 * MS, LEFT(10) });
    PLAY(&conf, GET, /* off and on again: it does not notice */
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 50 * MS, RETRIES(false) },
         { 60 * MS, RETRIES(true) },
         { 100 * MS, TRY(2, BACKOFF) });
}

static void retries_off_sends_no_hedge(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.attempts = 1;
    conf.hedge.max = 2;
    conf.hedge.after_ns = 10 * MS;
    conf.hedge.extra_load = 1;
    PLAY(&conf, GET,
         { 0, RETRIES(false) },
         { 0, TRY(1, FIRST) },
         { 0, WAIT(BIDE_FOREVER, RUNNING) },
         { 20 * MS, WAIT(BIDE_FOREVER, RUNNING) },
         { 30 * MS, REPORT(1, FAILED) },
         { 30 * MS, DONE(RETRIES_OFF) });
    PLAY(&conf, GET, /* while the first runs: the original is not hurt */
         { 0, TRY(1, FIRST) },
         { 0, WAIT(10 * MS, RUNNING) },
         { 5 * MS, RETRIES(false) },
         { 10 * MS, WAIT(BIDE_FOREVER, RUNNING) },
         { 30 * MS, REPORT(1, WORKED) },
         { 30 * MS, DONE(SUCCESS) });
}

static void retries_switch_is_seen_and_checked(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);

    (void)state;
    assert_true(bide_dep_retries(dep));
    assert_true(script_stats(dep, 0).retries_on);
    assert_int_equal(bide_dep_set_retries(dep, false), 0);
    assert_false(bide_dep_retries(dep));
    assert_false(script_stats(dep, 0).retries_on);
    assert_int_equal(bide_dep_set_retries(NULL, true), BIDE_EINVAL);
    assert_false(bide_dep_retries(NULL));
    assert_true(bide_reason_is_refusal(BIDE_BECAUSE_RETRIES_OFF));
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retries_off_ends_calls_that_fail),
        cmocka_unit_test(retries_off_ends_calls_that_wait),
        cmocka_unit_test(retries_off_sends_no_hedge),
        cmocka_unit_test(retries_switch_is_seen_and_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
