/* test_attempt.c: what the end of an attempt is told to: the breaker, the
 * budget, the limits and the measurements, each its own part and no more. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

/* ===== breaker ===== */

static bide_policy_conf nervous_conf(void)
{
    bide_policy_conf conf = script_conf();

    conf.attempts = 1;
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.consecutive = 1;
    conf.breaker.open_ns = 10 * S;
    conf.breaker.open_jitter = 0;
    return conf;
}

static void attempt_outcome_is_well_ill_or_neutral(void **state)
{
    static const struct {
        bide_outcome out;
        bide_breaker_state want;
    } rows[] = {
        { { WORKED }, BIDE_BREAKER_CLOSED },
        { { .cls = BIDE_SUCCESS, .fault = BIDE_FAULT_LOCAL },
          BIDE_BREAKER_CLOSED },
        { { FAILED }, BIDE_BREAKER_OPEN },
        { { UNCONNECTED }, BIDE_BREAKER_OPEN },
        { { TIMED_OUT }, BIDE_BREAKER_OPEN },
        { { OVERLOADED }, BIDE_BREAKER_OPEN },
        { { THROTTLED }, BIDE_BREAKER_CLOSED },
        { { PERMANENT }, BIDE_BREAKER_CLOSED }, /* it answered */
        { { .cls = BIDE_PERMANENT, .fault = BIDE_FAULT_TLS },
          BIDE_BREAKER_OPEN },
        { { .cls = BIDE_PERMANENT, .fault = BIDE_FAULT_NO_HOST },
          BIDE_BREAKER_OPEN },
        { { IGNORED }, BIDE_BREAKER_CLOSED },
        /* our own trouble */
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_LOCAL },
          BIDE_BREAKER_CLOSED },
        { { .cls = BIDE_PERMANENT, .fault = BIDE_FAULT_URL },
          BIDE_BREAKER_CLOSED },
    };
    bide_policy_conf conf = nervous_conf();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep = script_dep(&conf);
        bide_call call;

        bide_call_begin(&call, dep, GET, 0);
        bide_call_next(&call, 0);
        bide_call_report(&call, 1, &rows[i].out, 0);
        bide_call_end(&call, 0);
        if (bide_dep_breaker(dep, 0) != rows[i].want)
            fail_msg("row %zu: %s", i + 1,
                     bide_breaker_state_name(bide_dep_breaker(dep, 0)));
        bide_dep_free(dep);
    }
}

/* A well answer ends a row of ill ones; a neutral one does not. */
static void attempt_neutral_outcome_neither_heals_nor_harms(void **state)
{
    bide_policy_conf conf = nervous_conf();

    (void)state;
    conf.breaker.consecutive = 2;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, BY(1), REPORT(1, WORKED) },
         { 0, BY(2), TRY(1, FIRST) },
         { 0, BY(2), REPORT(1, FAILED) },
         { 0, BREAKER(CLOSED) },
         { 0, BY(3), TRY(1, FIRST) },
         { 0, BY(3), REPORT(1, THROTTLED) },
         { 0, BY(4), TRY(1, FIRST) },
         { 0, BY(4), END },
         { 0, BREAKER(CLOSED) },
         { 0, BY(5), TRY(1, FIRST) },
         { 0, BY(5), REPORT(1, FAILED) },
         { 0, BREAKER(OPEN) });
}

static void attempt_slow_success_is_told(void **state)
{
    bide_policy_conf conf = nervous_conf();

    (void)state;
    conf.breaker.consecutive = 0;
    conf.breaker.min_calls = 1;
    conf.breaker.slow_ns = 100 * MS;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 100 * MS - 1, REPORT(1, WORKED) },
         { 100 * MS, BREAKER(CLOSED) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 100 * MS, REPORT(1, WORKED) },
         { 100 * MS, BREAKER(OPEN) });
}

static void attempt_hint_lengthens_the_open_time(void **state)
{
    bide_policy_conf conf = nervous_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED, HINT(60 * S)) },
         { 59 * S, BREAKER(OPEN) },
         { 61 * S, BREAKER(HALF_OPEN) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED, .hinted = false, .hint_ns = 60 * S) },
         { 9 * S, BREAKER(OPEN) },
         { 11 * S, BREAKER(HALF_OPEN) });
}

/* ===== budget ===== */

static void attempt_deposits_on_first_successes_only(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.floor_per_s = 0.1;
    conf.budget.ratio = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, LEFT(1) },
         { 0, REPORT(1, WORKED) },
         { 0, LEFT(2) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, BY(1), REPORT(1, FAILED) },
         { 0, LEFT(2) },
         { 0, BY(1), WAIT(100 * MS, BACKOFF) },
         { 0, LEFT(1) },
         { S, BY(1), TRY(2, BACKOFF) },
         { S, BY(1), REPORT(2, WORKED) },
         { S, LEFT(1) }); /* a late success deposits nothing */
}

static void attempt_deposits_on_calls_where_the_policy_says(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.floor_per_s = 0;
    conf.budget.ratio = 1;
    conf.budget.deposit = BIDE_DEPOSIT_CALL;
    PLAY(&conf, GET,
         { 0, LEFT(0) },
         { 0, TRY(1, FIRST) },
         { 0, LEFT(1) },
         { 0, REPORT(1, FAILED) },
         { 0, LEFT(1) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 0, LEFT(0) },
         { S, TRY(2, BACKOFF) },
         { S, LEFT(0) }, /* a retry is not a call */
         { S, REPORT(2, WORKED) },
         { S, LEFT(0) });
}

static void attempt_quota_is_settled(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_QUOTA;
    conf.budget.capacity = 100;
    conf.budget.cost = 10;
    conf.budget.cost_timeout = 30;
    conf.budget.cost_throttled = 20;
    conf.budget.refund = 3;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, TIMED_OUT) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { S, TRY(2, BACKOFF) },
            { S, REPORT(2, FAILED) }); /* 30 are gone */
    assert_int_equal(dep->budget.level, 70);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, THROTTLED) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { 0, LEFT(5) },
            { S, TRY(2, BACKOFF) },
            { S, REPORT(2, WORKED) }); /* its 20 come back, and no refund */
    assert_int_equal(dep->budget.level, 70);
    PLAY_ON(dep, GET, { 0, TRY(1, FIRST) }, { 0, REPORT(1, WORKED) });
    assert_int_equal(dep->budget.level, 73);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { S, TRY(2, BACKOFF) },
            { S, LEFT(6) },
            { S, END }); /* given up: nothing was learnt, nothing is lost */
    assert_int_equal(dep->budget.level, 73);
    bide_dep_free(dep);
}

static void attempt_throttle_budget_counts_refusals(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_THROTTLE;
    dep = script_dep(&conf);
    assert_int_equal(dep->budget.level, 10 * BIDE__MILLION);
    PLAY_ON(dep, GET, { 0, TRY(1, FIRST) }, { 0, REPORT(1, PERMANENT) });
    assert_int_equal(dep->budget.level, 10 * BIDE__MILLION);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, PERMANENT, .refused = true) });
    assert_int_equal(dep->budget.level, 9 * BIDE__MILLION);
    bide_dep_free(dep);
}

/* ORACLES, row 8: everything fails, and exactly four retries are made. */
static void attempt_throttle_budget_allows_four_retries(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_THROTTLE;
    conf.attempts = 10;
    dep = script_dep(&conf);
    for (int i = 0; i < 20; i++) {
        bide_call call;
        bide_decision d;
        int64_t now = 0;

        bide_call_begin(&call, dep, GET, 0);
        while ((d = bide_call_next(&call, now)).action != BIDE_DONE) {
            if (d.action == BIDE_WAIT)
                now = d.at_ns;
            else
                bide_call_report(&call, d.attempt, &(bide_outcome){ FAILED },
                                 now);
        }
        assert_int_equal(d.reason, BIDE_BECAUSE_BUDGET);
        bide_call_end(&call, now);
    }
    assert_int_equal(script_stats(dep, 0).retries, 4);
    bide_dep_free(dep);
}

/* A hedge that nothing failed for costs what a plain retry costs. */
static void attempt_hedge_costs_what_a_retry_costs(void **state)
{
    static const bide_outcome failures[] = { { TIMED_OUT }, { THROTTLED } };
    static const int64_t cost[] = { 30, 20 };
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.attempts = 1;
    conf.hedge.max = 2;
    conf.hedge.after_ns = 50 * MS;
    conf.hedge.extra_load = 1;
    conf.budget.kind = BIDE_BUDGET_QUOTA;
    conf.budget.capacity = 100;
    conf.budget.cost = 10;
    conf.budget.cost_timeout = 30;
    conf.budget.cost_throttled = 20;
    for (int i = 0; i < 2; i++) {
        bide_dep *dep = script_dep(&conf);
        bide_call call;

        bide__window_add(&dep->lanes[0].calls, 0, 0);
        bide_call_begin(&call, dep, GET, 0);
        bide_call_next(&call, 0);
        bide_call_report(&call, 1, &failures[i], 0);
        assert_int_equal(bide_call_next(&call, 0).action, BIDE_TRY);
        assert_int_equal(dep->budget.level, 100 - cost[i]);
        assert_int_equal(bide_call_next(&call, 50 * MS).action, BIDE_TRY);
        assert_int_equal(dep->budget.level, 90 - cost[i]);
        bide_call_end(&call, 50 * MS);
        bide_dep_free(dep);
    }
}

/* The ceiling of hedges takes back what was not sent. */
static void attempt_hedge_not_sent_is_not_under_the_ceiling(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.attempts = 1;
    conf.hedge.max = 2; /* or there were no ceiling */
    conf.hedge.after_ns = 50 * MS;
    conf.hedge.extra_load = 1;
    for (int i = 0; i < 3; i++) {
        bide_policy_conf c = conf;
        bide_dep *dep;

        if (i == 0) { /* refused by the budget */
            c.budget.kind = BIDE_BUDGET_WINDOW;
            c.budget.floor_per_s = 0;
        } else if (i == 1) { /* by the cap */
            c.limits.in_flight = 1;
        }
        dep = script_dep(&c);
        PLAY_ON(dep, GET,
                { 0, TRY(1, FIRST) },
                { 50 * MS, .event = i < 2 ? SCRIPT_WAIT : SCRIPT_TRY,
                  .attempt = 2, .reason = ANY_REASON, .min_ns = ANY_NS });
        assert_int_equal(bide__spend_outstanding(&dep->hedge_spend, 0), i / 2);
        bide_dep_free(dep);
    }
}

/* ===== limits ===== */

/* The token must leave time for an attempt, not only come in time. */
static void attempt_paced_past_the_deadline_is_refused(void **state)
{
    bide_policy_conf conf = script_conf();
    int64_t at = 0;

    (void)state;
    conf.limits.adaptive_rate = true;
    for (int i = 0; i < 3; i++) {
        bide_dep *dep = script_dep(&conf);
        bide_op op = { .idempotent = true };
        bide_call call;
        bide_decision d = { .action = BIDE_TRY };

        PLAY_ON(dep, GET,
                { 10 * S, TRY(1, FIRST) },
                { 10 * S, REPORT(1, THROTTLED, .refused = true) });
        if (i > 0)
            op.deadline_ns = at + conf.attempt_min_ns - (i == 1);
        bide_call_begin(&call, dep, &op, 10 * S);
        d = bide_call_next(&call, 10 * S);
        if (i == 1) {
            assert_int_equal(d.action, BIDE_DONE);
            assert_int_equal(d.reason, BIDE_BECAUSE_ADAPTIVE_RATE);
        } else {
            assert_int_equal(d.action, BIDE_WAIT);
            assert_int_equal(d.reason, BIDE_BECAUSE_PACED);
            assert_true(i == 0 || d.at_ns == at);
            at = d.at_ns;
        }
        bide_call_end(&call, 10 * S);
        bide_dep_free(dep);
    }
}

static uint64_t lane_sum(const bide_dep *dep, size_t member)
{
    return bide__lanes_sum(dep->lanes, dep->policy.conf.lanes, member, 0, 0);
}

static void attempt_throttle_sees_requests_and_accepts(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;

    (void)state;
    conf.limits.adaptive_throttle = true;
    conf.limits.in_flight = 1;
    conf.limits.queue = 1;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, BY(1), WAIT(S, QUEUED) },
            { 0, BY(1), WAIT(S, QUEUED) }, /* asked often, counted once */
            { 0, REPORT(1, WORKED) },
            { 0, BY(1), TRY(1, FIRST) },
            { 0, BY(1), REPORT(1, FAILED) },
            { 0, BY(1), WAIT(100 * MS, BACKOFF) },
            { 100 * MS, BY(1), TRY(2, BACKOFF) }, /* counted again */
            { 100 * MS, BY(1), REPORT(2, PERMANENT) }); /* it did answer */
    assert_int_equal(lane_sum(dep, offsetof(struct bide__lane, requests)), 3);
    assert_int_equal(lane_sum(dep, offsetof(struct bide__lane, accepts)), 2);
    bide_dep_free(dep);
}

/* ===== latency ===== */

static void attempt_cancelled_is_not_measured(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);

    (void)state;
    PLAY_ON(dep, GET, { 0, TRY(1, FIRST) }, { 5 * S, CANCEL }, { 5 * S, END });
    assert_true(bide_dep_latency(dep, 0.5, 5 * S) == -1);
    PLAY_ON(dep, GET, { 0, TRY(1, FIRST) }, { 5 * S, REPORT(1, FAILED) });
    assert_true(bide_dep_latency(dep, 0.5, 5 * S) == -1);
    bide_dep_free(dep);
}

static void attempt_hedge_quantile_is_looked_up_now_and_then(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    int64_t now = 0, due;
    bide_call call;

    (void)state;
    conf.attempts = 1;
    conf.hedge.max = 1;
    conf.hedge.quantile = 0.5;
    conf.hedge.min_samples = 4;
    conf.hedge.extra_load = 1;
    dep = script_dep(&conf);
    for (int i = 0; i < 3; i++) {
        PLAY_ON(dep, GET,
                { now, TRY(1, FIRST) },
                { now, WAIT(BIDE_FOREVER, RUNNING) },
                { now + 10 * MS, REPORT(1, WORKED) });
        now += 2 * S;
    }
    PLAY_ON(dep, GET, /* looked up anew: three samples are too few */
            { now, TRY(1, FIRST) },
            { now, WAIT(BIDE_FOREVER, RUNNING) },
            { now + 10 * MS, REPORT(1, WORKED) });
    PLAY_ON(dep, GET, /* four are there, but nobody has looked */
            { now + 10 * MS, TRY(1, FIRST) },
            { now + 10 * MS, WAIT(BIDE_FOREVER, RUNNING) });
    now += 2 * S;
    bide_call_begin(&call, dep, GET, now);
    bide_call_next(&call, now);
    due = bide_call_next(&call, now).at_ns;
    assert_true(due > now + 9 * MS && due < now + 11 * MS);
    bide_call_end(&call, now);
    for (int i = 0; i < 50; i++) /* slower now; it is seen a second later */
        PLAY_ON(dep, GET,
                { now, TRY(1, FIRST) },
                { now, WAIT(due, RUNNING) },
                { now + 90 * MS, REPORT(1, WORKED) });
    now += 2 * S;
    PLAY_ON(dep, GET,
            { now, TRY(1, FIRST) },
            { now, WAIT_IN(now + 88 * MS, now + 92 * MS, RUNNING) });
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attempt_outcome_is_well_ill_or_neutral),
        cmocka_unit_test(attempt_neutral_outcome_neither_heals_nor_harms),
        cmocka_unit_test(attempt_slow_success_is_told),
        cmocka_unit_test(attempt_hint_lengthens_the_open_time),
        cmocka_unit_test(attempt_deposits_on_first_successes_only),
        cmocka_unit_test(attempt_deposits_on_calls_where_the_policy_says),
        cmocka_unit_test(attempt_quota_is_settled),
        cmocka_unit_test(attempt_throttle_budget_counts_refusals),
        cmocka_unit_test(attempt_throttle_budget_allows_four_retries),
        cmocka_unit_test(attempt_hedge_costs_what_a_retry_costs),
        cmocka_unit_test(attempt_hedge_not_sent_is_not_under_the_ceiling),
        cmocka_unit_test(attempt_paced_past_the_deadline_is_refused),
        cmocka_unit_test(attempt_throttle_sees_requests_and_accepts),
        cmocka_unit_test(attempt_cancelled_is_not_measured),
        cmocka_unit_test(attempt_hedge_quantile_is_looked_up_now_and_then),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
