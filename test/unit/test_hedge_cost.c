/* test_hedge_cost.c: what a hedge spends, and who may refuse it. */
#include "hedge_play.h"

/* The tables are laid out by hand. */
/* clang-format off */

/* ===== what it costs ===== */

static void hedge_is_held_under_its_ceiling(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.hedge.extra_load = 0.05;
    dep = script_dep(&conf);
    for (int i = 0; i < 400; i++) {
        int64_t t = i * MS;
        bide_call call;

        bide_call_begin(&call, dep, GET, t);
        bide_call_next(&call, t);
        bide_call_next(&call, t + 50 * MS);
        bide_call_report(&call, 1, &(bide_outcome){ WORKED }, t + 60 * MS);
        assert_int_equal(bide_call_next(&call, t + 60 * MS).reason,
                         BIDE_BECAUSE_SUCCESS);
        bide_call_end(&call, t + 60 * MS);
        s = script_stats(dep, t);
        assert_true(s.hedges * 20 <= (uint64_t)i + 1);
    }
    assert_true(s.hedges >= 15 && s.hedges <= 20);
    assert_int_equal(s.hedges + s.hedges_refused, 400);
    bide_dep_free(dep);
}

static void hedge_ceiling_of_zero_sends_none(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep;

    (void)state;
    conf.hedge.extra_load = 0;
    dep = hedge_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { 50 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { 60 * MS, REPORT(1, WORKED) },
            { 60 * MS, DONE(SUCCESS) });
    expect_hedges(dep, 0, 0, 1);
    bide_dep_free(dep);
}

/* As many as hedge.max allows, from the first call on: the gRPC way. */
static void hedge_ceiling_of_max_blocks_none(void **state)
{
    bide_policy_conf conf = hedge_conf(3);
    bide_dep *dep;

    (void)state;
    conf.hedge.extra_load = 3;
    conf.hedge.after_ns = 0;
    dep = script_dep(&conf);
    for (int i = 0; i < 100; i++) {
        int64_t t = i * 997 * MS; /* over the window's edge */
        PLAY_ON(dep, GET,
                { t, TRY(1, FIRST) },
                { t, TRY(2, HEDGE) },
                { t, TRY(3, HEDGE) },
                { t, TRY(4, HEDGE) },
                { t, WAIT(BIDE_FOREVER, RUNNING) },
                { t, REPORT(1, WORKED) },
                { t, DONE(SUCCESS) });
    }
    expect_hedges(dep, 300, 0, 0);
    bide_dep_free(dep);
}

/* Twice the calls is between: two hedges each, the third of none. */
static void hedge_ceiling_may_be_over_the_calls(void **state)
{
    bide_policy_conf conf = hedge_conf(3);
    bide_dep *dep;

    (void)state;
    conf.hedge.extra_load = 2;
    conf.hedge.after_ns = 0;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, TRY(2, HEDGE) },
            { 0, TRY(3, HEDGE) },
            { 0, WAIT(BIDE_FOREVER, RUNNING) },
            { 0, REPORT(1, WORKED) },
            { 0, DONE(SUCCESS) });
    expect_hedges(dep, 2, 0, 1);
    bide_dep_free(dep);
}

/* What was sent counts for hedge.window, and no longer. */
static void hedge_ceiling_is_over_its_window(void **state)
{
    bide_policy_conf conf = hedge_conf(1);

    (void)state;
    conf.hedge.extra_load = 0.5;
    conf.hedge.window_ns = S;
    for (int longer = 0; longer <= 1; longer++) {
        bide_dep *dep = script_dep(&conf);
        int64_t t = longer ? 2 * S : 500 * MS;
        PLAY_ON(dep, GET,
                { 0, TRY(1, FIRST) },
                { 0, BY(1), TRY(1, FIRST) },
                { 50 * MS, TRY(2, HEDGE) },  /* one for two calls */
                { t, BY(2), TRY(1, FIRST) },
                { t, BY(3), TRY(1, FIRST) },
                { t + 50 * MS, BY(2), TRY(2, HEDGE) },
                { t + 50 * MS, BY(3), WAIT(BIDE_FOREVER, RUNNING) });
        assert_int_equal(script_stats(dep, t).hedges, 2);
        bide_dep_free(dep);
    }
    conf.hedge.window_ns = BIDE_MINUTE;
    bide_dep *dep = script_dep(&conf);
    PLAY_ON(dep, GET, /* a minute long two calls pay for one hedge only */
            { 0, TRY(1, FIRST) },
            { 0, BY(1), TRY(1, FIRST) },
            { 50 * MS, TRY(2, HEDGE) },
            { 2 * S, BY(2), TRY(1, FIRST) },
            { 2 * S + 50 * MS, BY(2), WAIT(BIDE_FOREVER, RUNNING) });
    bide_dep_free(dep);
}

static void hedge_spends_the_budget(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.floor_per_s = 0.1;
    conf.budget.ratio = 0;
    dep = hedge_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, BY(1), TRY(1, FIRST) },
            { 0, LEFT(1) },
            { 50 * MS, TRY(2, HEDGE) },
            { 50 * MS, LEFT(0) },
            { 50 * MS, BY(1), WAIT(BIDE_FOREVER, RUNNING) },
            { 60 * MS, BY(1), REPORT(1, WORKED) },
            { 60 * MS, BY(1), DONE(SUCCESS) },
            { 70 * MS, REPORT(1, WORKED) },
            { 70 * MS, DONE(SUCCESS) });
    expect_hedges(dep, 1, 0, 1);
    bide_dep_free(dep);
}

static void hedge_budget_in_flight_comes_back(void **state)
{
    bide_policy_conf conf = hedge_conf(1);

    (void)state;
    conf.budget.kind = BIDE_BUDGET_IN_FLIGHT;
    conf.budget.min_in_flight = 1;
    conf.budget.ratio = 0;
    PLAY_HEDGE(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 50 * MS, TRY(2, HEDGE) },
         { 50 * MS, LEFT(0) },
         { 60 * MS, REPORT(1, WORKED) },
         { 60 * MS, DONE(SUCCESS) },
         { 60 * MS, END },
         { 60 * MS, LEFT(1) });
}

/* ===== a refused hedge never hurts the original ===== */

static void hedge_refused_by_the_in_flight_cap(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep;

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 5;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    dep = hedge_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 50 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { 50 * MS, LEFT(10) }, /* and costs nothing */
            { 60 * MS, REPORT(1, WORKED) },
            { 60 * MS, DONE(SUCCESS) });
    expect_hedges(dep, 0, 0, 1);
    assert_int_equal(script_stats(dep, 0).queued, 0);
    bide_dep_free(dep);
}

static void hedge_refused_by_the_breaker(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep;

    (void)state;
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    dep = hedge_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, FORCE(FORCED_OPEN) },
            { 50 * MS, WAIT(BIDE_FOREVER, RUNNING) },
            { 50 * MS, LEFT(10) },
            { 60 * MS, REPORT(1, WORKED) },
            { 60 * MS, DONE(SUCCESS) });
    expect_hedges(dep, 0, 0, 1);
    bide_dep_free(dep);
}

static void hedge_refused_while_half_open(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep;

    (void)state;
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.consecutive = 1;
    conf.breaker.open_ns = S;
    conf.breaker.open_jitter = 0;
    conf.breaker.probes = 3;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    dep = hedge_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, PERMANENT) },
            { 0, BY(1), TRY(1, FIRST) },
            { 0, BY(1), REPORT(1, FAILED) },
            { 0, BREAKER(OPEN) },
            { 2 * S, BY(2), TRY(1, FIRST) },
            { 2 * S, BREAKER(HALF_OPEN) },
            { 3 * S, BY(2), WAIT(BIDE_FOREVER, RUNNING) },
            { 3 * S, BY(2), REPORT(1, WORKED) },
            { 3 * S, BY(2), DONE(SUCCESS) });
    expect_hedges(dep, 0, 0, 1);
    bide_dep_free(dep);
}

static void hedge_refused_by_the_rate(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_dep *dep;

    (void)state;
    conf.limits.adaptive_rate = true;
    dep = hedge_dep(&conf);
    PLAY_ON(dep, GET,
            { 10 * S, TRY(1, FIRST) },
            { 10 * S, BY(1), TRY(1, FIRST) },
            { 10 * S, BY(2), TRY(1, FIRST) },
            { 10 * S, BY(2), REPORT(1, THROTTLED, .refused = true) },
            { 10 * S, BY(2), DONE(SERVER_REFUSED) },
            { 12 * S, BY(0), TRY(2, HEDGE) }, /* the first token */
            { 12 * S, BY(1), WAIT(BIDE_FOREVER, RUNNING) },
            { 13 * S, BY(1), REPORT(1, WORKED) },
            { 13 * S, BY(1), DONE(SUCCESS) });
    expect_hedges(dep, 1, 0, 1);
    bide_dep_free(dep);
}

static void hedge_refused_by_the_deadline(void **state)
{
    bide_policy_conf conf = hedge_conf(1);
    bide_op op = { .idempotent = true, .deadline_ns = 51 * MS };

    (void)state;
    PLAY_HEDGE(&conf, &op,
         { 0, TRY_FOR(1, FIRST, 51 * MS) },
         { 0, WAIT(50 * MS, RUNNING) },
         { 50 * MS, TRY_FOR(2, HEDGE, 1 * MS) });
    op.deadline_ns--;
    PLAY_HEDGE(&conf, &op,
         { 0, TRY(1, FIRST) },
         { 50 * MS, WAIT(BIDE_FOREVER, RUNNING) },
         { 51 * MS, REPORT(1, WORKED) },
         { 51 * MS, DONE(SUCCESS) });
}

/* Modes in which the breaker never refuses do not refuse hedges either. */
static void regress_hedge_under_a_breaker_that_lets_all_through(void **state)
{
    bide_policy_conf conf = hedge_conf(1);

    (void)state;
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.mode = BIDE_BREAKER_DRY_RUN;
    PLAY_HEDGE(&conf, GET,
               { 0, TRY(1, FIRST) },
               { 50 * MS, TRY(2, HEDGE) });
    conf.breaker.mode = BIDE_BREAKER_FORCED_CLOSED;
    PLAY_HEDGE(&conf, GET,
               { 0, TRY(1, FIRST) },
               { 50 * MS, TRY(2, HEDGE) });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hedge_is_held_under_its_ceiling),
        cmocka_unit_test(hedge_ceiling_of_zero_sends_none),
        cmocka_unit_test(hedge_ceiling_of_max_blocks_none),
        cmocka_unit_test(hedge_ceiling_may_be_over_the_calls),
        cmocka_unit_test(hedge_ceiling_is_over_its_window),
        cmocka_unit_test(hedge_spends_the_budget),
        cmocka_unit_test(hedge_budget_in_flight_comes_back),
        cmocka_unit_test(hedge_refused_by_the_in_flight_cap),
        cmocka_unit_test(hedge_refused_by_the_breaker),
        cmocka_unit_test(hedge_refused_while_half_open),
        cmocka_unit_test(hedge_refused_by_the_rate),
        cmocka_unit_test(hedge_refused_by_the_deadline),
        cmocka_unit_test(regress_hedge_under_a_breaker_that_lets_all_through),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
