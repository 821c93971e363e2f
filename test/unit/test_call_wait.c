/* test_call_wait.c: waits that no hint sets: the base of a throttled one, none
 * at all. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void call_throttled_base_is_for_throttled_ones(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.backoff_throttled.base_ns = S;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED) },
         { 0, WAIT(S, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, FAILED) },
         { S, WAIT(S + 200 * MS, BACKOFF) },
         { 2 * S, TRY(3, BACKOFF) },
         { 2 * S, REPORT(3, THROTTLED) },
         { 2 * S, WAIT(6 * S, BACKOFF) });
}

static void call_immediate_first_is_for_failures_to_connect(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.backoff.immediate_first = true;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, TRY(2, IMMEDIATE) },
         { 0, REPORT(2, UNCONNECTED) },
         { 0, WAIT(200 * MS, BACKOFF) }); /* only the first retry */
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_DNS,
                     .not_processed = true) },
         { 0, TRY(2, IMMEDIATE) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, UNCONNECTED) }, /* not the first retry any more */
         { S, WAIT(S + 200 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, TIMED_OUT) },
         { 0, WAIT(100 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, TIMED_OUT, .not_processed = true) },
         { 0, TRY(2, IMMEDIATE) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_RESET) },
         { 0, TRY(2, IMMEDIATE) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_LOCAL) },
         { 0, WAIT(100 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED, HINT(S)) }, /* a hint is a hint */
         { 0, WAIT(S, HINT) });
    conf.backoff.immediate_first = false;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, WAIT(100 * MS, BACKOFF) });
}

static void call_immediate_retry_spends_the_budget(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.backoff.immediate_first = true;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.floor_per_s = 0.1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, LEFT(1) },
         { 0, TRY(2, IMMEDIATE) },
         { 0, LEFT(0) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, BY(1), REPORT(1, UNCONNECTED) },
         { 0, BY(1), DONE(BUDGET) });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_throttled_base_is_for_throttled_ones),
        cmocka_unit_test(call_immediate_first_is_for_failures_to_connect),
        cmocka_unit_test(call_immediate_retry_spends_the_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
