/* test_budget_in_flight.c: a share of the calls in flight, as Envoy has it. */
#include "budget_steps.h"

/* 1000 calls fail at one instant: those that wait for their retry count, so a
 * fifth of the calls may, and not all of them. */
static void budget_in_flight_counts_those_that_wait(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_IN_FLIGHT);
    conf.budget.ratio = 0.2;
    bide_dep *dep = new_dep(&conf);
    int granted = 0, sent = 0;
    (void)state;
    for (int i = 0; i < MANY; i++)
        start(&calls[i], dep, 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 200);
    for (int i = 0; i < MANY; i++)
        granted += report(&calls[i], BIDE_TRANSIENT, S).action == BIDE_WAIT;
    assert_int_equal(granted, 200);
    assert_int_equal(bide_dep_budget_left(dep, S), 0);
    for (int i = 0; i < MANY; i++)
        sent += bide_call_next(&calls[i], 2 * S).action == BIDE_TRY;
    assert_int_equal(sent, 200);
    assert_int_equal(tokens(dep), 200);
    end_all(MANY, 2 * S);
    assert_int_equal(tokens(dep), 0);
    bide_dep_free(dep);
}

static void budget_in_flight_floor_is_always_granted(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_IN_FLIGHT);
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(bide_dep_budget_left(dep, 0), 3);
    assert_int_equal(fail_many(dep, 10, 0), 3);
    retry(&calls[0], BIDE_TRANSIENT, S); /* released by whatever outcome */
    assert_int_equal(bide_dep_budget_left(dep, S), 1);
    assert_true(fails_and_waits(&calls[10], dep, S));
    end_all(11, S);
    assert_int_equal(bide_dep_budget_left(dep, S), 3);
    bide_dep_free(dep);

    conf.budget.min_in_flight = 0;
    dep = new_dep(&conf);
    assert_int_equal(fail_many(dep, 9, 0), 0);
    assert_true(fails_and_waits(&calls[9], dep, 0)); /* the tenth: 10 % is 1 */
    end_all(10, 0);
    bide_dep_free(dep);
}

/* 29 % of 100 calls is 29 here too. */
static void budget_in_flight_share_is_not_cut_off(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_IN_FLIGHT);
    conf.budget.ratio = 0.29;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    for (int i = 0; i < 100; i++)
        start(&calls[i], dep, 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 29);
    end_all(100, 0);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_in_flight_counts_those_that_wait),
        cmocka_unit_test(budget_in_flight_floor_is_always_granted),
        cmocka_unit_test(budget_in_flight_share_is_not_cut_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
