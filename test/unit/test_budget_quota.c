/* test_budget_quota.c: the token bucket of the AWS SDKs. */
#include "budget_steps.h"

static bide_policy_conf quota_conf(void)
{
    return conf_of(BIDE_BUDGET_QUOTA);
}

/* One retry, after a failure of each kind: what is taken, and what comes back.
 */
static void budget_quota_costs_what_aws_says(void **state)
{
    static const struct {
        bide_outcome failure;
        bide_class retried;
        int64_t waiting, after;
    } rows[] = {
        { { .cls = BIDE_TRANSIENT }, BIDE_SUCCESS, 495, 500 },
        { { .cls = BIDE_TRANSIENT }, BIDE_TRANSIENT, 495, 495 },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_TIMEOUT },
          BIDE_SUCCESS,
          490,
          500 },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_TIMEOUT },
          BIDE_PERMANENT,
          490,
          490 },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_RESET },
          BIDE_SUCCESS,
          495,
          500 },
        { { .cls = BIDE_THROTTLED }, BIDE_SUCCESS, 493, 500 },
        { { .cls = BIDE_THROTTLED }, BIDE_THROTTLED, 493, 493 },
        { { .cls = BIDE_TRANSIENT }, BIDE_IGNORED, 495, 500 },
    };
    bide_policy_conf conf = quota_conf();
    (void)state;
    conf.budget.cost_throttled = 7;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep = new_dep(&conf);
        assert_int_equal(tokens(dep), 500);
        assert_int_equal(bide_dep_budget_left(dep, 0), 100);
        start(&calls[0], dep, 0);
        bide_call_report(&calls[0], 1, &rows[i].failure, 0);
        assert_int_equal(bide_call_next(&calls[0], 0).action, BIDE_WAIT);
        assert_int_equal(tokens(dep), rows[i].waiting);
        retry(&calls[0], rows[i].retried, S);
        assert_int_equal(tokens(dep), rows[i].after);
        bide_call_end(&calls[0], S);
        assert_int_equal(tokens(dep), rows[i].after);
        bide_dep_free(dep);
    }
}

static void budget_quota_grants_capacity_over_cost(void **state)
{
    bide_policy_conf conf = quota_conf();
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, 150, 0), 100);
    assert_int_equal(tokens(dep), 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 0);
    end_all(150, 0); /* all were waiting, and all is given back */
    assert_int_equal(tokens(dep), 500);
    bide_dep_free(dep);

    conf.budget.capacity = 9;
    dep = new_dep(&conf);
    assert_int_equal(bide_dep_budget_left(dep, 0), 1);
    assert_int_equal(fail_many(dep, 3, 0), 1);
    assert_int_equal(tokens(dep), 4);
    end_all(3, 0);
    bide_dep_free(dep);
}

static void budget_quota_first_success_gains_1_up_to_capacity(void **state)
{
    bide_policy_conf conf = quota_conf();
    bide_dep *dep = new_dep(&conf);
    (void)state;
    succeed(dep, 10, 0);
    assert_int_equal(tokens(dep), 500);
    assert_int_equal(fail_many(dep, 100, 0), 100);
    for (int i = 0; i < 100; i++)
        retry(&calls[i], BIDE_TRANSIENT, S);
    end_all(100, S);
    assert_int_equal(tokens(dep), 0);
    for (int i = 1; i <= 600; i++) {
        succeed(dep, 1, S);
        assert_int_equal(tokens(dep), i < 500 ? i : 500);
    }
    one_call(dep, BIDE_PERMANENT, S, S);
    assert_int_equal(tokens(dep), 500);

    /* a refund that does not fit whole is cut to what does */
    assert_true(fails_and_waits(&calls[0], dep, S));
    succeed(dep, 3, S);
    assert_int_equal(tokens(dep), 498);
    retry(&calls[0], BIDE_SUCCESS, 2 * S);
    assert_int_equal(tokens(dep), 500);
    bide_call_end(&calls[0], 2 * S);
    bide_dep_free(dep);
}

static void budget_quota_cost_0_grants_all(void **state)
{
    bide_policy_conf conf = quota_conf();
    conf.budget.cost = 0;
    conf.budget.refund = 0;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_true(bide_dep_budget_left(dep, 0) == BIDE_FOREVER);
    assert_int_equal(fail_many(dep, MANY, 0), MANY);
    end_all(MANY, 0);
    succeed(dep, 1, 0);
    assert_int_equal(tokens(dep), 500);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_quota_costs_what_aws_says),
        cmocka_unit_test(budget_quota_grants_capacity_over_cost),
        cmocka_unit_test(budget_quota_first_success_gains_1_up_to_capacity),
        cmocka_unit_test(budget_quota_cost_0_grants_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
