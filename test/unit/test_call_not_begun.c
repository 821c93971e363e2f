/* test_call_not_begun.c: attempts that an HTTP/2 server did not begin with
 * (REFUSED_STREAM, or above the last stream of its GOAWAY). */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void not_begun_goes_again_at_once_whatever_the_method(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, POST,
         { 0, TRY(1, FIRST) },
         { 5 * MS, REPORT(1, REFUSED_STREAM) },
         { 5 * MS, TRY(2, NOT_PROCESSED) },
         { 6 * MS, REPORT(2, WORKED) },
         { 6 * MS, DONE(SUCCESS) });
}

static void not_begun_costs_neither_attempts_nor_budget_nor_breaker(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.attempts = 1;
    conf.budget.kind = BIDE_BUDGET_WINDOW; /* 10 at the start */
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.consecutive = 1;
    dep = script_dep(&conf);
    PLAY_ON(dep, POST,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, REFUSED_STREAM) },
         { 1 * MS, LEFT(10) },
         { 1 * MS, BREAKER(CLOSED) },
         { 1 * MS, TRY(2, NOT_PROCESSED) },
         { 2 * MS, REPORT(2, WORKED) },
         { 2 * MS, DONE(SUCCESS) });
    s = script_stats(dep, 2 * MS);
    assert_int_equal(s.unreached, 1);
    assert_int_equal(s.attempts, 1);
    assert_int_equal(s.retries, 0);
    assert_int_equal(s.first_successes, 1);
    bide_dep_free(dep);
}

static void not_begun_twice_is_an_attempt(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.attempts = 2;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    PLAY(&conf, POST,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, REFUSED_STREAM) },
         { 1 * MS, TRY(2, NOT_PROCESSED) },
         { 2 * MS, REPORT(2, REFUSED_STREAM) },
         { 2 * MS, WAIT(ANY_NS, BACKOFF) },
         { 2 * MS, LEFT(9) },
         { 60 * S, TRY(3, BACKOFF) },
         { 61 * S, REPORT(3, REFUSED_STREAM) },
         { 61 * S, DONE(ATTEMPTS) });
}

/* Also where a layer above retries, and where retries are switched off: it is
 * none. */
static void not_begun_is_no_retry(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op nested = { .idempotent = true, .upstream_attempt = 1 };
    bide_dep *dep = script_dep(&conf);

    (void)state;
    bide_dep_set_retries(dep, false);
    PLAY_ON(dep, &nested,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, REFUSED_STREAM) },
         { 1 * MS, TRY(2, NOT_PROCESSED) },
         { 2 * MS, REPORT(2, REFUSED_STREAM) },
         { 2 * MS, DONE(UPSTREAM_RETRIES) });
    bide_dep_free(dep);
}

/* Part of the body may be gone with the stream. */
static void not_begun_needs_the_body(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op one_shot = { .one_shot_body = true };

    (void)state;
    PLAY(&conf, &one_shot,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, REFUSED_STREAM) },
         { 1 * MS, DONE(NOT_REPLAYABLE) });
}

static void not_begun_retry_keeps_what_was_paid(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, FAILED) },
         { 1 * MS, WAIT(ANY_NS, BACKOFF) },
         { 1 * S, TRY(2, BACKOFF) },
         { 1 * S, LEFT(9) },
         { 2 * S, REPORT(2, REFUSED_STREAM) },
         { 2 * S, TRY(3, NOT_PROCESSED) },
         { 2 * S, LEFT(9) },
         { 3 * S, REPORT(3, WORKED) },
         { 3 * S, DONE(SUCCESS) });
}

/* The place of a probe is not lost with it. */
static void not_begun_probe_probes_again(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.attempts = 1;
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.consecutive = 1;
    conf.breaker.probes = 1;
    conf.breaker.open_ns = conf.breaker.open_max_ns = 1 * S;
    bide_dep *dep = script_dep(&conf);
    PLAY_ON(dep, GET,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, FAILED) },
         { 1 * MS, BREAKER(OPEN) });
    PLAY_ON(dep, GET,
         { 10 * S, TRY(1, FIRST) },
         { 10 * S, REPORT(1, REFUSED_STREAM) },
         { 10 * S, TRY(2, NOT_PROCESSED) },
         { 10 * S, REPORT(2, WORKED) },
         { 10 * S, DONE(SUCCESS) },
         { 10 * S, BREAKER(CLOSED) });
    bide_dep_free(dep);
}

/* ===== gRPC's pushback: the wait itself ===== */

#define PUSHBACK(ns) FAILED, .hinted = true, .hint_ns = (ns), .hint_exact = true

static void pushback_is_the_wait_to_the_nanosecond(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.retry_after.jitter = 0.5;
    conf.retry_after.mode = BIDE_HINT_FLOOR;
    conf.backoff.base_ns = conf.backoff.cap_ns = 10 * S;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, PUSHBACK(250 * MS)) },
         { 0, WAIT(250 * MS, HINT) },
         { 250 * MS, TRY(2, HINT) },
         { 250 * MS, REPORT(2, WORKED) },
         { 250 * MS, DONE(SUCCESS) });
}

static void pushback_of_0_goes_at_once(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 7 * MS, REPORT(1, PUSHBACK(0)) },
         { 7 * MS, TRY(2, HINT) },
         { 8 * MS, REPORT(2, WORKED) },
         { 8 * MS, DONE(SUCCESS) });
}

static void pushback_over_the_limit_is_too_long(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.retry_after.max_ns = 1 * S;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, PUSHBACK(2 * S)) },
         { 0, DONE(HINT_TOO_LONG) });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_begun_goes_again_at_once_whatever_the_method),
        cmocka_unit_test(
            not_begun_costs_neither_attempts_nor_budget_nor_breaker),
        cmocka_unit_test(not_begun_twice_is_an_attempt),
        cmocka_unit_test(not_begun_is_no_retry),
        cmocka_unit_test(not_begun_needs_the_body),
        cmocka_unit_test(not_begun_retry_keeps_what_was_paid),
        cmocka_unit_test(not_begun_probe_probes_again),
        cmocka_unit_test(pushback_is_the_wait_to_the_nanosecond),
        cmocka_unit_test(pushback_of_0_goes_at_once),
        cmocka_unit_test(pushback_over_the_limit_is_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
