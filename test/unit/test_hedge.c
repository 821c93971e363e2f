/* test_hedge.c: when a second attempt goes out beside a slow one, and for whom.
 * */
#include "hedge_play.h"

/* The tables are laid out by hand. */
/* clang-format off */

/* ===== when it goes out ===== */

static void hedge_after_a_fixed_delay(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep = hedge_dep(&conf);

    (void)state;
    PLAY_ON(dep, GET,
            { 0, TRY_FOR(1, FIRST, 10 * S) },
            { 0, WAIT(50 * MS, RUNNING) },
            { 30 * MS, WAIT(50 * MS, RUNNING) },
            { 50 * MS, TRY_FOR(2, HEDGE, 10 * S) },
            { 50 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { 60 * MS, REPORT(2, WORKED) },
            { 60 * MS, DONE(SUCCESS) },
            { 61 * MS, REPORT(1, IGNORED) },
            { 61 * MS, DONE(SUCCESS) });
    expect_hedges(dep, 1, 1, 0);
    bide_dep_free(dep);
}

static void hedge_answered_in_time_sends_none(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep = hedge_dep(&conf);

    (void)state;
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, WAIT(50 * MS, RUNNING) },
            { 49 * MS, REPORT(1, WORKED) },
            { 50 * MS, DONE(SUCCESS) });
    expect_hedges(dep, 0, 0, 0);
    assert_int_equal(script_stats(dep, 0).first_successes, 1);
    bide_dep_free(dep);
}

static void hedge_after_zero_goes_at_once(void **state)
{
    bide_policy_conf conf = hedge_conf(2);

    (void)state;
    conf.hedge.after_ns = 0;
    PLAY_HEDGE(&conf, GET,
         { 5, TRY(1, FIRST) },
         { 5, TRY(2, HEDGE) },
         { 5, TRY(3, HEDGE) },
         { 5, WAIT(BIDE_FOREVER, RUNNING) });
}

static void hedge_max_are_spaced_by_the_delay(void **state)
{
    bide_policy_conf conf = hedge_conf(4);
    bide_dep *dep = hedge_dep(&conf);

    (void)state;
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, WAIT(50 * MS, RUNNING) },
            { 50 * MS, TRY(2, HEDGE) },
            { 50 * MS, WAIT(100 * MS, RUNNING) },
            { 130 * MS, TRY(3, HEDGE) }, /* asked late: the next is later too */
            { 130 * MS, WAIT(180 * MS, RUNNING) },
            { 180 * MS, TRY(4, HEDGE) },
            { 230 * MS, TRY(5, HEDGE) },
            { 230 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { 400 * MS, REPORT(4, WORKED) },
            { 400 * MS, DONE(SUCCESS) });
    expect_hedges(dep, 4, 1, 0);
    assert_int_equal(script_stats(dep, 0).attempts, 5);
    assert_int_equal(script_stats(dep, 0).by_class[BIDE_IGNORED], 4);
    bide_dep_free(dep);
}

static void hedge_off_sends_none(void **state)
{
    bide_policy_conf conf = hedge_conf(0);

    (void)state;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, WAIT(BIDE_FOREVER, RUNNING) },
         { 5 * S, WAIT(BIDE_FOREVER, RUNNING) });
}

static void hedge_by_quantile_needs_its_samples(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep;
    int64_t now = 0;

    (void)state;
    conf.hedge.after_ns = BIDE_FOREVER;
    conf.hedge.quantile = 0.9;
    conf.hedge.min_samples = 100;
    dep = hedge_dep(&conf);
    for (int i = 1; i <= 99; i++) {
        PLAY_ON(dep, GET,
                { now, TRY(1, FIRST) },
                { now, WAIT(BIDE_FOREVER, RUNNING) },
                { now + i * MS, REPORT(1, WORKED) },
                { now + i * MS, DONE(SUCCESS) });
        now += i * MS;
    }
    PLAY_ON(dep, GET,
            { now, TRY(1, FIRST) },
            { now, WAIT(BIDE_FOREVER, RUNNING) },
            { now + 100 * MS, REPORT(1, WORKED) });
    now += S; /* the quantile is looked up now and then */
    PLAY_ON(dep, GET,
            { now, TRY(1, FIRST) },
            { now, WAIT_IN(now + 88 * MS, now + 92 * MS, RUNNING) },
            { now + 92 * MS, TRY(2, HEDGE) });
    /* an hour later nothing of that is true any more */
    now += 3600 * S;
    PLAY_ON(dep, GET,
            { now, TRY(1, FIRST) },
            { now, WAIT(BIDE_FOREVER, RUNNING) });
    bide_dep_free(dep);
}

/* A tenth of the attempts is slow: p90 is about 1 s, but when the first hundred
 * have ended, all were fast, and the slow ones run. */
static void hedge_by_quantile_does_not_trust_a_cold_estimate(void **state)
{
    enum { SLOW = 12, FAST = 100 };
    static bide_call slow[SLOW], fast;
    bide_policy_conf conf = hedge_conf(1);
    bide_outcome worked = { WORKED };
    bide_dep *dep;

    (void)state;
    conf.hedge.after_ns = BIDE_FOREVER;
    conf.hedge.quantile = 0.9;
    conf.hedge.min_samples = FAST;
    dep = hedge_dep(&conf);
    for (int i = 0; i < SLOW; i++) {
        bide_call_begin(&slow[i], dep, GET, 0);
        bide_call_next(&slow[i], 0);
    }
    for (int i = 0; i < FAST; i++) {
        bide_call_begin(&fast, dep, GET, 0);
        bide_call_next(&fast, 0);
        bide_call_report(&fast, 1, &worked, 10 * MS);
        bide_call_end(&fast, 10 * MS);
    }
    /* 100 of 112 are under 10 ms, which is less than nine tenths */
    PLAY_ON(dep, GET,
            { 1 * S, TRY(1, FIRST) },
            { 1 * S, WAIT(BIDE_FOREVER, RUNNING) });
    for (int i = 0; i < SLOW; i++) {
        bide_call_report(&slow[i], 1, &worked, 1 * S);
        bide_call_end(&slow[i], 1 * S);
    }
    PLAY_ON(dep, GET,
            { 2 * S, TRY(1, FIRST) },
            { 2 * S, WAIT_IN(2900 * MS, 3100 * MS, RUNNING) });
    bide_dep_free(dep);
}

/* When a whole window has been measured, attempts that run are nothing new:
 * as many ran at its beginning. */
static void hedge_by_quantile_ignores_what_runs_once_it_is_warm(void **state)
{
    enum { RUNNING = 50 };
    static bide_call slow[RUNNING];
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep;

    (void)state;
    conf.hedge.after_ns = BIDE_FOREVER;
    conf.hedge.quantile = 0.9;
    conf.hedge.min_samples = 10;
    dep = hedge_dep(&conf);
    for (int64_t t = 0; t < 40 * S; t += S)
        PLAY_ON(dep, GET,
                { t, TRY(1, FIRST) },
                { t + 100 * MS, REPORT(1, WORKED) });
    for (int i = 0; i < RUNNING; i++) {
        bide_call_begin(&slow[i], dep, GET, 40 * S);
        bide_call_next(&slow[i], 40 * S);
    }
    PLAY_ON(dep, GET,
            { 42 * S, TRY(1, FIRST) },
            { 42 * S, WAIT_IN(42 * S + 98 * MS, 42 * S + 102 * MS, RUNNING) });
    for (int i = 0; i < RUNNING; i++)
        bide_call_end(&slow[i], 43 * S);
    bide_dep_free(dep);
}

/* ===== for whom ===== */

static void hedge_only_for_what_may_be_done_twice(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_op keyed = { .has_key = true };
    bide_op stream = { .idempotent = true, .one_shot_body = true };
    bide_op nested = { .idempotent = true, .upstream_attempt = 1 };

    (void)state;
    PLAY_HEDGE(&conf, POST,
         { 0, TRY(1, FIRST) },
         { 0, WAIT(BIDE_FOREVER, RUNNING) },
         { S, WAIT(BIDE_FOREVER, RUNNING) },
         { S, REPORT(1, FAILED) },
         { S, DONE(NOT_IDEMPOTENT) });
    PLAY_HEDGE(&conf, &stream,
         { 0, TRY(1, FIRST) },
         { S, WAIT(BIDE_FOREVER, RUNNING) },
         { S, REPORT(1, FAILED) },
         { S, DONE(NOT_REPLAYABLE) });
    PLAY_HEDGE(&conf, &nested,
         { 0, TRY(1, FIRST) },
         { S, WAIT(BIDE_FOREVER, RUNNING) },
         { S, REPORT(1, FAILED) },
         { S, DONE(UPSTREAM_RETRIES) });
    PLAY_HEDGE(&conf, &keyed,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) });
    conf.nested = BIDE_NESTED_RETRY;
    PLAY_HEDGE(&conf, &nested,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) });
    conf.idempotency_key = BIDE_KEY_GENERATE;
    PLAY_HEDGE(&conf, POST,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) });
}

static void hedge_cancelled_call_sends_no_more(void **state)
{
    bide_policy_conf conf = hedge_conf(2);

    (void)state;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) },
         { 60 * MS, CANCEL },
         { 100 * MS, DONE(CANCELLED) },
         { 110 * MS, REPORT(1, WORKED) },
         { 110 * MS, REPORT(2, IGNORED) },
         { 110 * MS, DONE(CANCELLED) });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hedge_after_a_fixed_delay),
        cmocka_unit_test(hedge_answered_in_time_sends_none),
        cmocka_unit_test(hedge_after_zero_goes_at_once),
        cmocka_unit_test(hedge_max_are_spaced_by_the_delay),
        cmocka_unit_test(hedge_off_sends_none),
        cmocka_unit_test(hedge_by_quantile_needs_its_samples),
        cmocka_unit_test(hedge_by_quantile_does_not_trust_a_cold_estimate),
        cmocka_unit_test(hedge_by_quantile_ignores_what_runs_once_it_is_warm),
        cmocka_unit_test(hedge_only_for_what_may_be_done_twice),
        cmocka_unit_test(hedge_cancelled_call_sends_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
