/* test_call_hint.c: what becomes of a wait that the server asked for. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void call_hint_replaces_the_backoff(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(7 * S)) },
         { 0, WAIT(7 * S, HINT) },
         { 7 * S, TRY(2, HINT) },
         { 7 * S, REPORT(2, FAILED, HINT(1)) }, /* shorter than the backoff */
         { 7 * S, WAIT(7 * S + 1, HINT) },
         { 7 * S + 1, TRY(3, HINT) },
         { 7 * S + 1, REPORT(3, FAILED) }, /* and back to computing */
         { 7 * S + 1, WAIT(7 * S + 1 + 400 * MS, BACKOFF) });
}

/* gRPC: after pushback, the next computed wait is the first again. */
static void call_hint_may_restart_the_backoff(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.attempts = 10;
    conf.retry_after.then = BIDE_THEN_RESTART;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 1 * S, TRY(2, BACKOFF) },
         { 1 * S, REPORT(2, FAILED) },
         { 1 * S, WAIT(1200 * MS, BACKOFF) },
         { 2 * S, TRY(3, BACKOFF) },
         { 2 * S, REPORT(3, FAILED, HINT(5 * S)) },
         { 2 * S, WAIT(7 * S, HINT) },
         { 7 * S, TRY(4, HINT) },
         { 7 * S, REPORT(4, FAILED) },
         { 7 * S, WAIT(7 * S + 100 * MS, BACKOFF) },
         { 8 * S, TRY(5, BACKOFF) },
         { 8 * S, REPORT(5, FAILED) },
         { 8 * S, WAIT(8 * S + 200 * MS, BACKOFF) });
    /* a retry that is immediate is that of the call, not of each restart */
    conf.backoff.immediate_first = true;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED, HINT(5 * S)) },
         { 0, WAIT(5 * S, HINT) },
         { 5 * S, TRY(2, HINT) },
         { 5 * S, REPORT(2, UNCONNECTED) },
         { 5 * S, WAIT(5100 * MS, BACKOFF) });
}

static void call_hint_as_floor_takes_the_longer(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.retry_after.mode = BIDE_HINT_FLOOR;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(7 * S)) },
         { 0, WAIT(7 * S, HINT) },
         { 7 * S, TRY(2, HINT) },
         { 7 * S, REPORT(2, FAILED, HINT(199 * MS)) },
         { 7 * S, WAIT(7 * S + 200 * MS, BACKOFF) },
         { 8 * S, TRY(3, BACKOFF) },
         { 8 * S, REPORT(3, FAILED, HINT(401 * MS)) },
         { 8 * S, WAIT(8 * S + 401 * MS, HINT) });
}

static void call_hint_of_zero_leaves_it_to_the_backoff(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(0)) },
         { 0, WAIT(100 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, .hinted = false, .hint_ns = 7 * S) },
         { 0, WAIT(100 * MS, BACKOFF) });
    /* a caller's nonsense is no hint either */
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(-1)) },
         { 0, WAIT(100 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(INT64_MIN)) },
         { 0, WAIT(100 * MS, BACKOFF) });
}

static void call_hint_of_zero_is_a_hint_for_a_throttled_one(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.retry_after.throttled_without_hint = BIDE_UNHINTED_STOP;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(0)) },
         { 0, WAIT(100 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) }, /* only throttled ones stop */
         { 0, WAIT(100 * MS, BACKOFF) });
}

static void call_hint_too_long_says_when_a_new_call_may_go(void **state)
{
    (void)state;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    bide_call call;
    bide_outcome out = { .cls = BIDE_THROTTLED, .hinted = true,
                         .hint_ns = BIDE_HOUR };
    assert_int_equal(bide_dep_new(&dep, "test", &conf), 0);
    bide_call_begin(&call, dep, &(bide_op){ .idempotent = true }, 0);
    bide_call_next(&call, 0);
    bide_call_report(&call, 1, &out, BIDE_SECOND);
    bide_decision d = bide_call_next(&call, BIDE_SECOND);
    assert_int_equal(d.action, BIDE_DONE);
    assert_int_equal(d.reason, BIDE_BECAUSE_HINT_TOO_LONG);
    assert_int_equal(d.at_ns, BIDE_SECOND + BIDE_HOUR);
    bide_call_end(&call, BIDE_SECOND);
    bide_dep_free(dep);
}

static void call_hint_too_long_by_one(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(300 * S)) },
         { S, WAIT(301 * S, HINT) });
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(300 * S + 1)) },
         { S, DONE(HINT_TOO_LONG) });
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(BIDE_FOREVER)) },
         { S, DONE(HINT_TOO_LONG) });
    conf.retry_after.max_ns = 0;
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(1)) },
         { S, DONE(HINT_TOO_LONG) });
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(0)) },
         { S, WAIT(S + 100 * MS, BACKOFF) });
}

static void call_hint_of_forever_saturates(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op op = { .idempotent = true, .deadline_ns = BIDE_FOREVER };

    (void)state;
    conf.retry_after.max_ns = BIDE_FOREVER;
    conf.retry_after.jitter = 1;
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(BIDE_FOREVER)) },
         { S, WAIT(BIDE_FOREVER, HINT) });
    PLAY(&conf, &op,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(BIDE_FOREVER - 1)) },
         { S, WAIT_IN(BIDE_FOREVER, BIDE_FOREVER, HINT) });
    conf.deadline_ns = 10 * S;
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(BIDE_FOREVER)) },
         { S, DONE(DEADLINE) });
}

static void call_hint_jitter_only_adds(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    int64_t lo = BIDE_FOREVER, hi = 0;

    (void)state;
    conf.retry_after.jitter = 0.1;
    dep = script_dep(&conf);
    for (int i = 0; i < 10000; i++) {
        bide_call call;
        bide_verdict v;
        bide_decision d;

        bide_call_begin(&call, dep, GET, 0);
        bide_call_next(&call, 0);
        bide_call_report(&call, 1, &(bide_outcome){ THROTTLED, HINT(120 * S) },
                         0);
        d = bide_call_next(&call, 0);
        assert_int_equal(d.reason, BIDE_BECAUSE_HINT);
        assert_true(d.at_ns >= 120 * S && d.at_ns <= 132 * S);
        lo = d.at_ns < lo ? d.at_ns : lo;
        hi = d.at_ns > hi ? d.at_ns : hi;
        assert_int_equal(bide_call_verdict(&call, &v), 0);
        assert_true(v.value_ns == 120 * S && v.wait_ns == d.at_ns);
        assert_true(v.wait_min_ns == 120 * S && v.wait_max_ns == 132 * S);
        bide_call_end(&call, 0);
    }
    assert_true(lo < 120 * S + 10 * MS && hi > 132 * S - 10 * MS);
    bide_dep_free(dep);
}

/* Decorrelated waits grow from computed one to computed one, whatever servers
 * say in between. */
static void call_hint_leaves_the_decorrelated_wait_alone(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_rng_seeded a, b;
    bide_rng rng = bide_rng_seed(&a, 3), twin = bide_rng_seed(&b, 3);
    bide_op op = { .idempotent = true, .rng = &rng };
    bide_dep *dep;
    bide_call call;
    bide_verdict v;
    int64_t now = 0, previous = 0;

    (void)state;
    conf.backoff.jitter = BIDE_JITTER_DECORRELATED;
    conf.attempts = 10;
    dep = script_dep(&conf);
    bide_call_begin(&call, dep, &op, now);
    for (uint32_t n = 0; n < 5; n++) {
        bool hinted = n != 0 && n != 4;
        bide_outcome out = { FAILED, .hinted = hinted, .hint_ns = 20 * S };
        int64_t lo, hi;

        assert_int_equal(bide_call_next(&call, now).action, BIDE_TRY);
        bide_call_report(&call, n + 1, &out, now);
        now = bide_call_next(&call, now).at_ns;
        bide_call_verdict(&call, &v);
        bide_backoff_range(&conf.backoff, n, previous, &lo, &hi);
        previous = bide_backoff_wait(&conf.backoff, n, previous, &twin);
        if (hinted) {
            bide_rng_between(&twin, 20 * S, 20 * S);
            assert_true(v.wait_ns == 20 * S);
        } else {
            assert_true(v.wait_min_ns == lo && v.wait_max_ns == hi);
            assert_true(v.wait_ns == previous);
        }
    }
    bide_call_end(&call, now);
    bide_dep_free(dep);
}

static void call_refused_says_when_a_new_call_may_go(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { S, REPORT(1, OVERLOADED, .refused = true, .hinted = true,
                     .hint_ns = 7 * S) },
         { S, DONE_UNTIL(SERVER_REFUSED, 8 * S) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { S, REPORT(1, OVERLOADED, .refused = true) },
         { S, DONE_UNTIL(SERVER_REFUSED, BIDE_FOREVER) });
}

/* A bide below has refused it: its breaker is open, and ours learns nothing. */
static void call_refused_below_is_neutral_for_the_breaker(void **state)
{
    bide_policy_conf conf = breaker_conf(1);
    bide_dep *dep = script_dep(&conf);

    (void)state;
    for (int i = 0; i < 9; i++)
        PLAY_ON(dep, GET,
                { 0, TRY(1, FIRST) },
                { 0, REPORT(1, OVERLOADED, .refused = true,
                            .refused_below = true) },
                { 0, DONE(SERVER_REFUSED) },
                { 0, BREAKER(CLOSED) });
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, OVERLOADED, .refused = true) },
            { 0, BREAKER(OPEN) });
    bide_dep_free(dep);
}

/* draft-ietf-httpapi-idempotency-key-header: the attempt before is being
 * processed still. */
static void call_conflict_after_a_key_is_asked_again(void **state)
{
    static const bide_op keyed = { .has_key = true };
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, &keyed,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT_IN(0, S, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, .cls = BIDE_PERMANENT, .status = 409) },
         { S, WAIT_IN(S, 2 * S, BACKOFF) },
         { 3 * S, TRY(3, BACKOFF) },
         { 3 * S, REPORT(3, WORKED) },
         { 3 * S, DONE(SUCCESS) });
    PLAY(&conf, &keyed, /* nothing can be in progress yet */
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, .cls = BIDE_PERMANENT, .status = 409) },
         { 0, DONE(PERMANENT) });
    bide_policy_conf watched = breaker_conf(2);
    bide_dep *dep = script_dep(&watched);
    PLAY_ON(dep, &keyed, /* 425 likewise; neither is held against the server */
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT_IN(0, S, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, .cls = BIDE_TRANSIENT, .status = 425) },
         { S, BREAKER(CLOSED) },
         { S, WAIT_IN(S, 2 * S, BACKOFF) },
         { 3 * S, TRY(3, BACKOFF) },
         { 3 * S, REPORT(3, WORKED) },
         { 3 * S, DONE(SUCCESS) });
    bide_dep_free(dep);
    PLAY(&conf, GET, /* no key, so it speaks of something else */
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT_IN(0, S, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, .cls = BIDE_PERMANENT, .status = 409) },
         { S, DONE(PERMANENT) });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_hint_replaces_the_backoff),
        cmocka_unit_test(call_hint_as_floor_takes_the_longer),
        cmocka_unit_test(call_hint_of_zero_leaves_it_to_the_backoff),
        cmocka_unit_test(call_hint_of_zero_is_a_hint_for_a_throttled_one),
        cmocka_unit_test(call_hint_too_long_by_one),
        cmocka_unit_test(call_hint_too_long_says_when_a_new_call_may_go),
        cmocka_unit_test(call_hint_of_forever_saturates),
        cmocka_unit_test(call_hint_jitter_only_adds),
        cmocka_unit_test(call_hint_leaves_the_decorrelated_wait_alone),
        cmocka_unit_test(call_hint_may_restart_the_backoff),
        cmocka_unit_test(call_refused_says_when_a_new_call_may_go),
        cmocka_unit_test(call_refused_below_is_neutral_for_the_breaker),
        cmocka_unit_test(call_conflict_after_a_key_is_asked_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
