/* test_policy_rule.c: rules that make no sense are refused as well. */
#include <stdlib.h>

#include "fixture.h"

static int check_rule(bide_rule rule)
{
    bide_policy_conf conf = defaults();
    conf.rules = &rule;
    conf.n_rules = 1;
    return bide_policy_check(&conf);
}

static void policy_good_rules_are_taken(void **state)
{
    static const bide_rule rules[] = {
        { .status_min = 503, .status_max = 503, .cls = BIDE_PERMANENT },
        { .status_min = 100, .status_max = 999, .cls = BIDE_IGNORED },
        { .faults = 1u << BIDE_FAULT_CONNECT, .cls = BIDE_TRANSIENT },
        { .faults = (1u << BIDE_N_FAULTS) - 1, .cls = BIDE_TRANSIENT },
        { .grpc = 1u << BIDE_GRPC_UNAUTHENTICATED, .cls = BIDE_PERMANENT },
        { .grpc = (1u << BIDE_N_GRPC) - 1, .cls = BIDE_PERMANENT },
        { .method = "POST", .cls = BIDE_PERMANENT },
        { .header = "x-a", .cls = BIDE_THROTTLED },
        { .header = "x-a", .header_value = "*", .cls = BIDE_OVERLOADED },
        { .problem_type = "urn:x", .not_processed = true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rules); i++)
        if (check_rule(rules[i]) != 0)
            fail_msg("rule %zu is refused", i);
}

static void policy_bad_rules_are_refused(void **state)
{
    static char longest[BIDE_MAX_RULE_TEXT + 1];
    static char too_long[BIDE_MAX_RULE_TEXT + 2];
    memset(longest, 'x', BIDE_MAX_RULE_TEXT);
    memset(too_long, 'x', BIDE_MAX_RULE_TEXT + 1);
    const bide_rule rules[] = {
        { .cls = BIDE_TRANSIENT }, /* asks nothing, and would match all */
        { .status_min = 500, .cls = BIDE_TRANSIENT },
        { .status_max = 599, .cls = BIDE_TRANSIENT },
        { .status_min = 99, .status_max = 599 },
        { .status_min = 500, .status_max = 1000 },
        { .status_min = 500, .status_max = 499 },
        { .status_min = UINT16_MAX, .status_max = UINT16_MAX },
        { .faults = 1u << BIDE_N_FAULTS },
        { .faults = UINT32_MAX },
        { .grpc = 1u << BIDE_N_GRPC },
        { .grpc = UINT32_MAX },
        { .method = "" },
        { .header = "" },
        { .problem_type = "" },
        { .header = "x-a", .header_value = "" },
        { .header_value = "x" },
        { .method = "GET", .header_value = "x" }, /* value, but of which? */
        { .method = too_long },
        { .header = too_long },
        { .header = "x-a", .header_value = too_long },
        { .problem_type = too_long },
        { .method = "GET", .cls = BIDE_N_CLASSES },
        { .method = "GET", .cls = (bide_class)-1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rules); i++)
        if (check_rule(rules[i]) != BIDE_ERULE)
            fail_msg("rule %zu is not refused", i);
    assert_int_equal(check_rule((bide_rule){ .method = longest }), 0);
    assert_int_equal(check_rule((bide_rule){ .header = longest,
                                             .header_value = longest,
                                             .problem_type = longest }),
                     0);
}

static void policy_rules_too_many_or_missing_are_refused(void **state)
{
    static bide_rule rules[BIDE_MAX_RULES + 1];
    bide_policy_conf conf = defaults();

    (void)state;
    for (size_t i = 0; i < COUNT(rules); i++)
        rules[i].method = "GET";
    conf.rules = rules;
    conf.n_rules = BIDE_MAX_RULES;
    assert_int_equal(bide_policy_check(&conf), 0);
    conf.n_rules++;
    assert_int_equal(bide_policy_check(&conf), BIDE_ERULE);
    conf.n_rules = SIZE_MAX;
    assert_int_equal(bide_policy_check(&conf), BIDE_ERULE);
    conf.rules = NULL;
    conf.n_rules = 1;
    assert_int_equal(bide_policy_check(&conf), BIDE_ERULE);
    conf.n_rules = 0;
    assert_int_equal(bide_policy_check(&conf), 0);
    conf.rules =
        (const bide_rule *)(uintptr_t)16; /* 0 of them: never looked at */
    assert_int_equal(bide_policy_check(&conf), 0);
}

static void policy_one_bad_rule_of_many_is_found(void **state)
{
    bide_rule rules[5];
    bide_policy_conf conf = defaults();

    (void)state;
    conf.rules = rules;
    conf.n_rules = COUNT(rules);
    for (size_t bad = 0; bad < COUNT(rules); bad++) {
        for (size_t i = 0; i < COUNT(rules); i++)
            rules[i] = (bide_rule){ .method = i == bad ? "" : "GET" };
        assert_int_equal(bide_policy_check(&conf), BIDE_ERULE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policy_good_rules_are_taken),
        cmocka_unit_test(policy_bad_rules_are_refused),
        cmocka_unit_test(policy_rules_too_many_or_missing_are_refused),
        cmocka_unit_test(policy_one_bad_rule_of_many_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
