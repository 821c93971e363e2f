/* test_call_end.c: a call that ends, at any point, holds nothing any more. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void call_cancel_in_every_state(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 1;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    dep = script_dep(&conf);
    /* before it asked */
    PLAY_ON(dep, GET, { 0, CANCEL }, { 0, DONE(CANCELLED) });
    /* running */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, CANCEL },
            { 0, DONE(CANCELLED) },
            { 1, REPORT(1, IGNORED) },
            { 1, DONE(CANCELLED) });
    /* failed, not judged */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, CANCEL },
            { 0, DONE(CANCELLED) },
            { 0, LEFT(10) });
    /* waiting */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { 0, LEFT(9) },
            { 0, CANCEL },
            { 0, LEFT(10) },
            { 0, DONE(CANCELLED) },
            { 0, CANCEL },
            { 0, LEFT(10) });
    /* queued */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, BY(1), WAIT(S, QUEUED) },
            { 0, BY(1), CANCEL },
            { 0, BY(1), DONE(CANCELLED) },
            { 0, BY(2), WAIT(S, QUEUED) });
    /* succeeded, and not asked since: it has succeeded */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, WORKED) },
            { 0, CANCEL },
            { 0, DONE(SUCCESS) });
    /* done */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, PERMANENT) },
            { 0, DONE(PERMANENT) },
            { 0, CANCEL },
            { 0, DONE(PERMANENT) });
    s = script_stats(dep, 0);
    /* ... and the two of the queue that were simply ended */
    assert_int_equal(s.done[BIDE_BECAUSE_CANCELLED], 7);
    assert_int_equal(s.calls, 9);
    assert_int_equal(s.retries_dropped, 1);
    bide_dep_free(dep);
}

static void call_end_in_every_state(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 1;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET, { 0, BEGIN(NULL) }, { 0, END });
    PLAY_ON(dep, GET, { 0, CANCEL }, { 0, END });
    PLAY_ON(dep, GET, { 0, TRY(1, FIRST) }, { 0, END });
    PLAY_ON(dep, GET, { 0, TRY(1, FIRST) }, { 0, CANCEL }, { 0, END });
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, END });
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { 0, LEFT(9) },
            { 0, END },
            { 0, LEFT(10) });
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, BY(1), WAIT(S, QUEUED) },
            { 0, BY(1), END },
            { 0, BY(2), WAIT(S, QUEUED) },
            { 0, BY(2), END });
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, WORKED) },
            { 0, END }); /* without having asked again: it did work */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, PERMANENT) },
            { 0, DONE(PERMANENT) },
            { 0, END });
    s = script_stats(dep, 0);
    assert_int_equal(s.calls, 11);
    assert_int_equal(s.first_successes, 1);
    assert_int_equal(s.done[BIDE_BECAUSE_SUCCESS], 1);
    assert_int_equal(s.done[BIDE_BECAUSE_PERMANENT], 1);
    assert_int_equal(s.attempts, 7);
    assert_int_equal(s.by_class[BIDE_IGNORED], 3);
    assert_int_equal(s.retries_dropped, 1);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_cancel_in_every_state),
        cmocka_unit_test(call_end_in_every_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
