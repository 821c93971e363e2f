/* test_call_budget.c: a retry is paid for when it is decided upon. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void call_budget_waiting_retries_count(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.floor_per_s = 0.2; /* two a window */
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, BY(2), TRY(1, FIRST) },
         { 1, REPORT(1, FAILED) },
         { 1, BY(1), REPORT(1, FAILED) },
         { 1, BY(2), REPORT(1, FAILED) },
         { 1, LEFT(2) },
         { 1, WAIT(100 * MS + 1, BACKOFF) },
         { 1, BY(1), WAIT(100 * MS + 1, BACKOFF) },
         { 1, LEFT(0) },
         { 1, BY(2), DONE(BUDGET) },
         { 1, BY(1), CANCEL },
         { 1, LEFT(1) },
         { 1, BY(3), TRY(1, FIRST) }, /* first attempts are free */
         { 1, BY(3), REPORT(1, FAILED) },
         { 1, BY(3), WAIT(100 * MS + 1, BACKOFF) },
         { 1, LEFT(0) });
}

static void call_budget_in_flight_counts_until_the_report(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.budget.kind = BIDE_BUDGET_IN_FLIGHT;
    conf.budget.min_in_flight = 1;
    conf.budget.ratio = 0;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 0, BY(1), REPORT(1, FAILED) },
         { 0, BY(1), DONE(BUDGET) },
         { S, TRY(2, BACKOFF) },
         { S, LEFT(0) },
         { S, REPORT(2, FAILED) },
         { S, LEFT(1) },
         { S, WAIT(S + 200 * MS, BACKOFF) },
         { S, LEFT(0) },
         { S, CANCEL },
         { S, LEFT(1) });
}

static void call_budget_refused_waits_for_nobody(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_QUOTA;
    conf.budget.capacity = 12;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, TIMED_OUT) }, /* costs 10 */
            { 0, WAIT(100 * MS, BACKOFF) },
            { S, TRY(2, BACKOFF) },
            { S, REPORT(2, FAILED) }, /* costs 5, and 2 are left */
            { S, DONE(BUDGET) });
    s = script_stats(dep, S);
    assert_int_equal(s.retries, 1);
    assert_int_equal(s.done[BIDE_BECAUSE_BUDGET], 1);
    assert_int_equal(s.wait_jittered.count, 1);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_budget_waiting_retries_count),
        cmocka_unit_test(call_budget_in_flight_counts_until_the_report),
        cmocka_unit_test(call_budget_refused_waits_for_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
