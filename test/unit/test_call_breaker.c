/* test_call_breaker.c: what the breaker has to say to a call. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void call_breaker_opened_by_this_failure(void **state)
{
    bide_policy_conf conf = breaker_conf(2);

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, FAILED) },
         { S, DONE(BREAKER_OPEN) },
         { 2 * S, BY(1), DONE(BREAKER_OPEN) });
}

static void call_breaker_done_says_when_it_may_fare_better(void **state)
{
    bide_policy_conf conf = breaker_conf(1);
    bide_dep *dep = script_dep(&conf);
    bide_call call;
    bide_decision d;

    (void)state;
    PLAY_ON(dep, GET, { 0, TRY(1, FIRST) }, { 0, REPORT(1, FAILED) });
    bide_call_begin(&call, dep, GET, S);
    d = bide_call_next(&call, S);
    assert_int_equal(d.reason, BIDE_BECAUSE_BREAKER_OPEN);
    assert_true(d.at_ns > 10 * S - MS && d.at_ns <= 10 * S);
    bide_call_end(&call, S);
    PLAY_ON(dep, GET,
            { d.at_ns, BY(1), TRY(1, FIRST) },
            { d.at_ns, BREAKER(HALF_OPEN) });
    bide_dep_free(dep);
}

/* Whoever sends the body could hold a probe's place for as long as he likes. */
static void call_body_pending_is_no_probe(void **state)
{
    bide_policy_conf conf = breaker_conf(1);
    bide_dep *dep = script_dep(&conf);
    bide_op upload = { .idempotent = true, .body_pending = true };

    (void)state;
    PLAY_ON(dep, &upload, { 0, TRY(1, FIRST) }, { 0, REPORT(1, FAILED) });
    PLAY_ON(dep, &upload, { 11 * S, DONE(BREAKER_OPEN) });
    upload.body_pending = false;
    PLAY_ON(dep, &upload,
            { 11 * S, TRY(1, FIRST) },
            { 11 * S, BREAKER(HALF_OPEN) });
    bide_dep_free(dep);
}

/* If there is nobody else it would never close: after open_max it is one. */
static void call_body_pending_probes_if_nobody_else_does(void **state)
{
    bide_policy_conf conf = breaker_conf(1);
    bide_op upload = { .idempotent = true, .body_pending = true };
    bide_dep *dep;

    (void)state;
    conf.breaker.open_max_ns = 20 * S;
    conf.breaker.probes = 2;
    dep = script_dep(&conf);
    PLAY_ON(dep, &upload, { 0, TRY(1, FIRST) }, { 0, REPORT(1, FAILED) });
    PLAY_ON(dep, &upload, { 29 * S, DONE(BREAKER_OPEN) });
    PLAY_ON(dep, &upload,
            { 31 * S, TRY(1, FIRST) },
            { 31 * S, REPORT(1, WORKED) },
            { 31 * S, BREAKER(HALF_OPEN) });
    PLAY_ON(dep, &upload, { 50 * S, DONE(BREAKER_OPEN) });
    PLAY_ON(dep, &upload,
            { 52 * S, TRY(1, FIRST) },
            { 52 * S, REPORT(1, WORKED) },
            { 52 * S, BREAKER(CLOSED) });
    bide_dep_free(dep);
}

static void call_breaker_opens_during_the_wait(void **state)
{
    bide_policy_conf conf = breaker_conf(2);
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { 0, LEFT(9) },
            { 0, BY(1), TRY(1, FIRST) },
            { 0, BY(1), REPORT(1, FAILED) },
            { 0, BREAKER(OPEN) },
            { 0, BY(1), DONE(BREAKER_OPEN) },
            { 0, LEFT(9) },
            { 100 * MS, DONE(BREAKER_OPEN) },
            { 100 * MS, LEFT(10) });
    s = script_stats(dep, 0);
    assert_int_equal(s.retries_dropped, 1);
    assert_int_equal(s.done[BIDE_BECAUSE_BREAKER_OPEN], 2);
    bide_dep_free(dep);
}

static void call_breaker_closed_again_after_the_wait(void **state)
{
    bide_policy_conf conf = breaker_conf(0);

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 0, FORCE(FORCED_OPEN) },
         { 0, BY(1), DONE(BREAKER_OPEN) },
         { 50 * MS, FORCE(NORMAL) },
         { 100 * MS, TRY(2, BACKOFF) });
}

static void call_probe_is_not_retried(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.breaker.probes = 2;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, DONE(BREAKER_OPEN) },
         { 11 * S, BY(1), TRY(1, FIRST) },
         { 11 * S, BY(2), TRY(1, FIRST) },
         { 11 * S, BY(3), DONE(BREAKER_OPEN) }, /* no more probes than two */
         { 11 * S, BY(1), REPORT(1, FAILED) },
         { 11 * S, BREAKER(OPEN) },
         { 11 * S, BY(1), DONE(BREAKER_OPEN) });
}

/* Half-open stays half-open where a rate of the probes decides: a failed probe is
 * not retried then either. */
static void call_probe_is_not_retried_while_half_open(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.breaker.probes = 3;
    conf.breaker.probe_failure_rate = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, DONE(BREAKER_OPEN) },
         { 11 * S, BY(1), TRY(1, FIRST) },
         { 11 * S, BY(1), REPORT(1, FAILED) },
         { 11 * S, BREAKER(HALF_OPEN) },
         { 11 * S, BY(1), DONE(BREAKER_OPEN) });
}

static void call_ignored_probe_gives_its_place_back(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.breaker.probes = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 11 * S, BY(1), TRY(1, FIRST) },
         { 11 * S, BY(2), DONE(BREAKER_OPEN) },
         { 11 * S, BY(1), REPORT(1, IGNORED) },
         { 11 * S, BREAKER(HALF_OPEN) },
         { 11 * S, BY(3), TRY(1, FIRST) },
         { 11 * S, BY(3), END }, /* unreported: as good as ignored */
         { 11 * S, BREAKER(HALF_OPEN) },
         { 11 * S, BY(4), TRY(1, FIRST) },
         { 11 * S, BY(4), REPORT(1, WORKED) },
         { 11 * S, BREAKER(CLOSED) });
}

static void call_breaker_forced_open_refuses_the_first(void **state)
{
    bide_policy_conf conf = breaker_conf(0);

    (void)state;
    conf.breaker.mode = BIDE_BREAKER_FORCED_OPEN;
    PLAY(&conf, GET, { S, DONE_UNTIL(BREAKER_OPEN, BIDE_FOREVER) });
}

/* dry_run never refuses: what it takes for a probe is retried. */
static void regress_call_dry_run_retries_a_probe(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.breaker.mode = BIDE_BREAKER_DRY_RUN;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 11 * S, BY(1), TRY(1, FIRST) },
         { 11 * S, BY(1), REPORT(1, FAILED) },
         { 11 * S, BY(1), WAIT(11 * S + 100 * MS, BACKOFF) },
         { 12 * S, BY(1), TRY(2, BACKOFF) });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_breaker_opened_by_this_failure),
        cmocka_unit_test(call_breaker_done_says_when_it_may_fare_better),
        cmocka_unit_test(call_breaker_opens_during_the_wait),
        cmocka_unit_test(call_breaker_closed_again_after_the_wait),
        cmocka_unit_test(call_probe_is_not_retried),
        cmocka_unit_test(call_body_pending_is_no_probe),
        cmocka_unit_test(call_body_pending_probes_if_nobody_else_does),
        cmocka_unit_test(call_probe_is_not_retried_while_half_open),
        cmocka_unit_test(call_ignored_probe_gives_its_place_back),
        cmocka_unit_test(call_breaker_forced_open_refuses_the_first),
        cmocka_unit_test(regress_call_dry_run_retries_a_probe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
