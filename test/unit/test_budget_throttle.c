/* test_budget_throttle.c: the token count of gRPC. */
#include "budget_steps.h"

static bide_policy_conf throttle_conf(double max_tokens, double ratio)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_THROTTLE);
    conf.budget.max_tokens = max_tokens;
    conf.budget.token_ratio = ratio;
    return conf;
}

/* Everything fails: 10 tokens grant exactly 4 retries. */
static void budget_throttle_grants_4_of_10(void **state)
{
    bide_policy_conf conf = throttle_conf(10, 0.1);
    bide_dep *dep = new_dep(&conf);
    int made = 0;
    (void)state;
    for (int64_t t = 0; t < 100 * S; t += S) {
        if (fails_and_waits(&calls[0], dep, t)) {
            made++;
            bide_call_end(&calls[0], t);
        }
        assert_int_equal(bide_dep_budget_left(dep, t), made < 4 ? 4 - made : 0);
    }
    assert_int_equal(made, 4);
    bide_dep_free(dep);
}

/* The failures of retries take tokens too: 10, 9 retry, 8, 7 retry, 6, 5. */
static void budget_throttle_counts_failed_retries(void **state)
{
    bide_policy_conf conf = throttle_conf(10, 0.1);
    conf.attempts = 100;
    bide_dep *dep = new_dep(&conf);
    bide_decision d = begin(&calls[0], dep, 0);
    int attempts = 0;
    int64_t now = 0;
    (void)state;
    while (d.action != BIDE_DONE) {
        if (d.action == BIDE_TRY) {
            attempts++;
            d = report(&calls[0], BIDE_TRANSIENT, now);
        } else {
            now = d.at_ns;
            d = bide_call_next(&calls[0], now);
        }
    }
    assert_int_equal(d.reason, BIDE_BECAUSE_BUDGET);
    assert_int_equal(attempts, 5);
    bide_call_end(&calls[0], now);
    bide_dep_free(dep);
}

/* {failures before, successes, tokens then in thousandths} */
static void budget_throttle_gains_token_ratio(void **state)
{
    static const struct {
        double max_tokens, ratio;
        int failures, successes;
        int64_t level; /* millionths */
    } rows[] = {
        { 10, 0.1, 10, 0, 0 },
        { 10, 0.1, 20, 0, 0 },
        { 10, 0.1, 10, 1, 100000 },
        { 10, 1, 10, 3, 3000000 },
        { 10, 2, 10, 3, 6000000 },
        { 10, 0.001, 10, 7, 7000 },
        { 10, 0.125, 10, 8, 1000000 },
        { 10, 0.1, 5, 70, 10000000 },
        { 1000, 1000, 999, 1, 1000000000 },
        { 1, 0.5, 1, 1, 500000 },
        { 2.5, 0.1, 1, 0, 1500000 },
        { 2.5, 0.1, 3, 0, 0 },
        { 10, 0.3, 10, 33, 9900000 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf =
            throttle_conf(rows[i].max_tokens, rows[i].ratio);
        bide_dep *dep = new_dep(&conf);
        for (int n = 0; n < rows[i].failures; n++)
            one_call(dep, BIDE_TRANSIENT, 0, 0);
        succeed(dep, rows[i].successes, 0);
        assert_int_equal(tokens(dep), rows[i].level);
        bide_dep_free(dep);
    }
}

/* Which outcomes take a token: what gRPC calls retryable, and a pushback. */
static void budget_throttle_counts_what_could_be_retried(void **state)
{
    static const struct {
        bide_outcome out;
        int64_t level;
    } rows[] = {
        { { .cls = BIDE_TRANSIENT }, 9000000 },
        { { .cls = BIDE_THROTTLED }, 9000000 },
        { { .cls = BIDE_OVERLOADED }, 9000000 },
        { { .cls = BIDE_PERMANENT }, 10000000 },
        { { .cls = BIDE_PERMANENT, .refused = true }, 9000000 },
        { { .cls = BIDE_IGNORED }, 10000000 },
        { { .cls = BIDE_SUCCESS }, 10000000 },
    };
    bide_policy_conf conf = throttle_conf(10, 0.1);
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep = new_dep(&conf);
        start(&calls[0], dep, 0);
        bide_call_report(&calls[0], 1, &rows[i].out, 0);
        bide_call_end(&calls[0], 0);
        assert_int_equal(tokens(dep), rows[i].level);
        bide_dep_free(dep);
    }
}

static void budget_throttle_grants_again_above_half(void **state)
{
    bide_policy_conf conf = throttle_conf(10, 1);
    bide_dep *dep = new_dep(&conf);
    (void)state;
    fail_many(dep, 10, 0);
    end_all(10, 0);
    succeed(dep, 6, 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 0);
    assert_false(fails_and_waits(&calls[0], dep, 0)); /* 5 is not above half */
    bide_call_end(&calls[0], 0);
    succeed(dep, 2, 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 1);
    assert_true(fails_and_waits(&calls[0], dep, 0));
    bide_call_end(&calls[0], 0);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_throttle_grants_4_of_10),
        cmocka_unit_test(budget_throttle_counts_failed_retries),
        cmocka_unit_test(budget_throttle_gains_token_ratio),
        cmocka_unit_test(budget_throttle_counts_what_could_be_retried),
        cmocka_unit_test(budget_throttle_grants_again_above_half),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
