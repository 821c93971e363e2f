/* test_budget_share.c: how much of a budget one call may spend. */
#include "script.h"

/* How many retries a call gets that always fails, of up to 30. */
static int retries_of(bide_dep *dep, bide_class cls, int64_t *now)
{
    bide_outcome out = { .cls = cls };
    bide_decision d;
    bide_call call;
    int n = -1;

    bide_call_begin(&call, dep, GET, *now);
    while ((d = bide_call_next(&call, *now)).action != BIDE_DONE) {
        if (d.action == BIDE_WAIT) {
            *now = d.at_ns;
            continue;
        }
        bide_call_report(&call, d.attempt, &out, *now);
        n++;
    }
    if (n < 30)
        assert_int_equal(d.reason, BIDE_BECAUSE_BUDGET);
    bide_call_end(&call, *now);
    return n;
}

static bide_policy_conf share_conf(bide_budget_kind kind, double per_call)
{
    bide_policy_conf conf = script_conf();

    conf.attempts = 31;
    conf.backoff.base_ns = conf.backoff.cap_ns = 1;
    conf.budget.kind = kind;
    conf.budget.per_call = per_call;
    return conf;
}

static void budget_share_bounds_one_call_not_the_next(void **state)
{
    static const struct {
        bide_budget_kind kind;
        double per_call;
        bide_class cls;
        int retries[3]; /* of one call after the other */
    } rows[] = {
        /* 10 in the window */
        { BIDE_BUDGET_WINDOW, 1, BIDE_TRANSIENT, { 10, 0, 0 } },
        { BIDE_BUDGET_WINDOW, 0.5, BIDE_TRANSIENT, { 5, 5, 0 } },
        { BIDE_BUDGET_WINDOW, 0.2, BIDE_TRANSIENT, { 2, 2, 2 } },
        { BIDE_BUDGET_WINDOW, 0.29, BIDE_TRANSIENT, { 2, 2, 2 } },
        { BIDE_BUDGET_WINDOW, 0.3, BIDE_TRANSIENT, { 3, 3, 3 } },
        { BIDE_BUDGET_WINDOW, 0.01, BIDE_TRANSIENT, { 1, 1, 1 } },
        /* 500 tokens, 5 each */
        { BIDE_BUDGET_QUOTA, 1, BIDE_TRANSIENT, { 30, 30, 30 } },
        { BIDE_BUDGET_QUOTA, 0.1, BIDE_TRANSIENT, { 10, 10, 10 } },
        { BIDE_BUDGET_QUOTA, 0.001, BIDE_TRANSIENT, { 1, 1, 1 } },
        /* 10 tokens, those above half: of a call, the first attempt takes one */
        { BIDE_BUDGET_THROTTLE, 1, BIDE_TRANSIENT, { 4, 0, 0 } },
        { BIDE_BUDGET_THROTTLE, 0.4, BIDE_TRANSIENT, { 2, 1, 0 } },
        /* 3 at once: one after the other is one at a time */
        { BIDE_BUDGET_IN_FLIGHT, 0.1, BIDE_TRANSIENT, { 30, 30, 30 } },
        { BIDE_BUDGET_OFF, 0.1, BIDE_TRANSIENT, { 30, 30, 30 } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = share_conf(rows[i].kind, rows[i].per_call);
        bide_dep *dep = script_dep(&conf);
        int64_t now = 0;
        for (int k = 0; k < 3; k++) {
            int got = retries_of(dep, rows[i].cls, &now);
            if (got != rows[i].retries[k])
                fail_msg("row %zu, call %d: %d retries", i, k + 1, got);
        }
        script_at_rest(dep, now, "share");
        bide_dep_free(dep);
    }
}

/* What the window grants grows with the traffic, and the share with it. */
static void budget_share_grows_with_the_traffic(void **state)
{
    bide_policy_conf conf = share_conf(BIDE_BUDGET_WINDOW, 0.1);
    bide_dep *dep = script_dep(&conf);
    int64_t now = 0;

    (void)state;
    for (int i = 0; i < 400; i++) { /* 40 more */
        bide_call call;
        bide_call_begin(&call, dep, GET, now);
        bide_decision d = bide_call_next(&call, now);
        bide_call_report(&call, d.attempt, &BIDE_OUTCOME_SUCCESS, now);
        bide_call_end(&call, now);
    }
    assert_int_equal(retries_of(dep, BIDE_TRANSIENT, &now), 5);
    bide_dep_free(dep);
}

/* Of a quota the share is one of tokens, whatever failed. */
static void budget_share_of_a_quota_is_of_tokens(void **state)
{
    bide_policy_conf conf = share_conf(BIDE_BUDGET_QUOTA, 0.1); /* 50 tokens */

    (void)state;
    conf.budget.cost_timeout = 20;
    conf.budget.cost_throttled = 0;
    bide_dep *dep = script_dep(&conf);
    bide_outcome timed_out = { TIMED_OUT };
    bide_decision d = { .action = BIDE_TRY };
    bide_call call;
    int64_t now = 0;
    int n = -1;
    bide_call_begin(&call, dep, GET, 0);
    while ((d = bide_call_next(&call, now)).action != BIDE_DONE) {
        if (d.action == BIDE_TRY) {
            bide_call_report(&call, d.attempt, &timed_out, now);
            n++;
        } else {
            now = d.at_ns;
        }
    }
    assert_int_equal(n, 2);
    assert_int_equal(d.reason, BIDE_BECAUSE_BUDGET);
    bide_call_end(&call, now);
    assert_int_equal(retries_of(dep, BIDE_THROTTLED, &now), 30); /* cost none */
    bide_dep_free(dep);
}

/* Hedges spend the same share. */
static void budget_share_bounds_hedges(void **state)
{
    bide_policy_conf conf = share_conf(BIDE_BUDGET_WINDOW, 0.01);

    (void)state;
    conf.attempts = 1;
    conf.hedge.max = 3;
    conf.hedge.after_ns = 10;
    conf.hedge.extra_load = 1;
    bide_dep *dep = script_dep(&conf);
    for (int i = 0; i < 10; i++) { /* calls, so that there may be hedges */
        bide_call call;
        bide_call_begin(&call, dep, GET, 0);
        bide_call_next(&call, 0);
        bide_call_end(&call, 0);
    }
    script_play(dep, GET, __LINE__, STEPS(
        { 0, TRY(1, FIRST) },
        { 10, TRY(2, HEDGE) },
        { 20, WAIT(BIDE_FOREVER, RUNNING) },
        { 30, REPORT(1, WORKED) },
        { 30, DONE(SUCCESS) }));
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_share_bounds_one_call_not_the_next),
        cmocka_unit_test(budget_share_grows_with_the_traffic),
        cmocka_unit_test(budget_share_of_a_quota_is_of_tokens),
        cmocka_unit_test(budget_share_bounds_hedges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
