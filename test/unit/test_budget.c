/* test_budget.c: the budget over a sliding window, and none. */
#include "budget_steps.h"

/* ===== off ===== */

static void budget_off_grants_all(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_OFF);
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, MANY, 0), MANY);
    assert_true(bide_dep_budget_left(dep, 0) == BIDE_FOREVER);
    end_all(MANY, 0);
    bide_dep_free(dep);
}

/* ===== window ===== */

static void budget_window_starts_with_the_floor(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(bide_dep_budget_left(dep, 0), 10);
    assert_int_equal(fail_many(dep, 50, 0), 10); /* those that wait count */
    assert_int_equal(bide_dep_budget_left(dep, 0), 0);
    end_all(50, 0);
    bide_dep_free(dep);
}

static void budget_window_cancelled_in_the_wait_is_given_back(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    const int64_t starts[] = { 0, 3 * S, 1000 * S, INT64_C(1) << 60 };
    (void)state;
    for (size_t i = 0; i < COUNT(starts); i++) {
        int64_t t = starts[i];
        bide_dep *dep = new_dep(&conf);
        assert_int_equal(fail_many(dep, 10, t), 10);
        bide_call_cancel(&calls[4]);
        assert_int_equal(bide_dep_budget_left(dep, t), 1);
        bide_call_cancel(&calls[4]); /* once is enough */
        assert_int_equal(bide_dep_budget_left(dep, t), 1);
        bide_call_end(&calls[5], t + 50 * MS); /* and so does giving up */
        assert_int_equal(bide_dep_budget_left(dep, t), 2);
        assert_int_equal(stats_of(dep, t).retries_dropped, 2);
        calls[5] = calls[9];
        end_all(9, t);
        assert_int_equal(bide_dep_budget_left(dep, t), 10);
        bide_dep_free(dep);
    }
}

static void budget_window_retry_that_was_made_stays_spent(void **state)
{
    static const bide_class classes[] = { BIDE_SUCCESS,   BIDE_TRANSIENT,
                                          BIDE_THROTTLED, BIDE_OVERLOADED,
                                          BIDE_PERMANENT, BIDE_IGNORED };
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, 7, 0), 7);
    for (int i = 0; i < 6; i++)
        retry(&calls[i], classes[i], 100 * MS);
    assert_int_equal(bide_call_next(&calls[6], 100 * MS).action, BIDE_TRY);
    end_all(7, 100 * MS); /* the last one without a report */
    assert_int_equal(bide_dep_budget_left(dep, 100 * MS), 3);
    bide_dep_free(dep);
}

/* Spent at t, it counts up to t + window at least, and 1/63 longer at most. */
static void budget_window_expires_exactly(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    (void)state;
    for (int64_t t = 0; t < 20 * S; t += 777 * MS) {
        bide_dep *dep = new_dep(&conf);
        int64_t tick = bide__spend_tick_ns(conf.budget.window_ns);
        int64_t over = (t / tick + 64) * tick;
        assert_int_equal(fail_many(dep, 11, t), 10);
        assert_true(over > t + 10 * S);
        assert_true(over <= t + 10 * S + 2 * tick);
        assert_int_equal(bide_dep_budget_left(dep, t + 10 * S), 0);
        assert_int_equal(bide_dep_budget_left(dep, over - 1), 0);
        assert_false(fails_and_waits(&calls[11], dep, over - 1));
        assert_int_equal(bide_dep_budget_left(dep, over), 10);
        assert_true(fails_and_waits(&calls[12], dep, over));
        end_all(13, over);
        bide_dep_free(dep);
    }
}

static void budget_window_given_back_after_it_expired_does_nothing(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    conf.backoff.base_ns = conf.backoff.cap_ns = 60 * S;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, 10, 0), 10);
    assert_true(fails_and_waits(&calls[10], dep, 12 * S));
    assert_int_equal(bide_dep_budget_left(dep, 12 * S), 9);
    end_all(10, 12 * S);
    assert_int_equal(bide_dep_budget_left(dep, 12 * S), 9);
    bide_call_end(&calls[10], 12 * S);
    assert_int_equal(bide_dep_budget_left(dep, 12 * S), 10);
    bide_dep_free(dep);
}

/* A share of deposits, to the last unit: a double makes 28.999999999999996 of
 * 29 % of 100. */
static void budget_window_share_is_not_cut_off(void **state)
{
    static const struct {
        double ratio, floor_per_s;
        int deposits, granted;
    } rows[] = {
        { 0.29, 0, 100, 29 },  { 0.29, 0, 99, 28 },  { 0.1, 0, 9, 0 },
        { 0.1, 0, 10, 1 },     { 0.1, 0, 100, 10 },  { 0.07, 0, 100, 7 },
        { 0.57, 0, 100, 57 },  { 0.58, 0, 100, 58 }, { 1, 0, 123, 123 },
        { 0, 0, 500, 0 },      { 0.1, 1, 500, 60 },  { 0.1, 0.07, 3, 1 },
        { 0.1, 0.06, 3, 0 },   { 0.001, 0, 999, 0 }, { 0.001, 0, 1000, 1 },
        { 0.000001, 0, 5, 0 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
        conf.budget.ratio = rows[i].ratio;
        conf.budget.floor_per_s = rows[i].floor_per_s;
        bide_dep *dep = new_dep(&conf);
        succeed(dep, rows[i].deposits, 5 * S);
        assert_int_equal(bide_dep_budget_left(dep, 5 * S), rows[i].granted);
        assert_int_equal(fail_many(dep, 200, 5 * S), rows[i].granted);
        end_all(200, 5 * S);
        bide_dep_free(dep);
    }
}

static void budget_window_deposits_only_first_successes(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    conf.budget.ratio = 1;
    conf.budget.floor_per_s = 0.1; /* 1 a window */
    bide_dep *dep = new_dep(&conf);
    (void)state;
    for (int i = 0; i < 20; i++)
        one_call(dep, BIDE_PERMANENT, 0, 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 1);
    assert_true(fails_and_waits(&calls[0], dep, 0));
    retry(&calls[0], BIDE_SUCCESS, 100 * MS); /* not at the first attempt */
    bide_call_end(&calls[0], 100 * MS);
    assert_int_equal(bide_dep_budget_left(dep, 100 * MS), 0);
    succeed(dep, 3, 100 * MS);
    assert_int_equal(bide_dep_budget_left(dep, 100 * MS), 3);
    bide_dep_free(dep);
}

static void budget_window_usual_call_deposits_too(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.budget.ratio = 0.1;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_true(dep->policy.plain);
    succeed(dep, 50, S);
    assert_int_equal(bide_dep_budget_left(dep, S), 15);
    bide_dep_free(dep);
}

static void budget_window_deposit_call_counts_failures(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    conf.budget.deposit = BIDE_DEPOSIT_CALL;
    conf.budget.floor_per_s = 0;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, 9, 0), 0);
    end_all(9, 0);
    assert_int_equal(fail_many(dep, 91, 0), 10);
    retry(&calls[0], BIDE_SUCCESS, 100 * MS); /* the retry deposits nothing */
    end_all(91, 100 * MS);
    assert_int_equal(bide_dep_budget_left(dep, 100 * MS), 9);
    bide_dep_free(dep);
}

/* Deposits leave the window as well: after 15/16 of it at the earliest. */
static void budget_window_deposits_expire(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    conf.budget.floor_per_s = 0;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    succeed(dep, 100, 0);
    assert_int_equal(bide_dep_budget_left(dep, 10 * S - 1), 10);
    assert_int_equal(bide_dep_budget_left(dep, 10 * S), 0);
    bide_dep_free(dep);
}

static void
budget_window_clock_standing_still_or_back_grants_no_more(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    const int64_t times[] = { 100 * S, 100 * S, 99 * S, 95 * S,
                              50 * S,  0,       -5,     INT64_MIN };
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, 20, 100 * S), 10);
    end_all(0, 0);
    for (size_t i = 0; i < COUNT(times); i++) {
        assert_false(fails_and_waits(&calls[20], dep, times[i]));
        bide_call_end(&calls[20], times[i]);
    }
    end_all(20, 100 * S);
    assert_int_equal(bide_dep_budget_left(dep, 100 * S), 10);
    bide_dep_free(dep);
}

static void budget_window_short_on_a_clock_from_1970_is_kept(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    const int64_t starts[] = { INT64_C(1700000000) * S, INT64_C(5000000000) * S,
                               INT64_MAX - 20 * S };
    (void)state;
    conf.budget.window_ns = 100 * MS;
    conf.budget.floor_per_s = 50;
    for (size_t i = 0; i < COUNT(starts); i++) {
        bide_dep *dep = new_dep(&conf);
        for (int64_t t = starts[i]; t < starts[i] + S; t += 110 * MS) {
            assert_int_equal(fail_many(dep, 20, t), 5);
            end_all(2, t);
            assert_int_equal(bide_dep_budget_left(dep, t), 2);
            for (int k = 2; k < 20; k++)
                if (bide_call_next(&calls[k], t + 100 * MS).action == BIDE_TRY)
                    report(&calls[k], BIDE_SUCCESS, t + 100 * MS);
            for (int k = 2; k < 20; k++)
                bide_call_end(&calls[k], t + 100 * MS);
        }
        bide_dep_free(dep);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_off_grants_all),
        cmocka_unit_test(budget_window_starts_with_the_floor),
        cmocka_unit_test(budget_window_cancelled_in_the_wait_is_given_back),
        cmocka_unit_test(budget_window_retry_that_was_made_stays_spent),
        cmocka_unit_test(budget_window_expires_exactly),
        cmocka_unit_test(
            budget_window_given_back_after_it_expired_does_nothing),
        cmocka_unit_test(budget_window_share_is_not_cut_off),
        cmocka_unit_test(budget_window_deposits_only_first_successes),
        cmocka_unit_test(budget_window_usual_call_deposits_too),
        cmocka_unit_test(budget_window_deposit_call_counts_failures),
        cmocka_unit_test(budget_window_deposits_expire),
        cmocka_unit_test(
            budget_window_clock_standing_still_or_back_grants_no_more),
        cmocka_unit_test(budget_window_short_on_a_clock_from_1970_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
