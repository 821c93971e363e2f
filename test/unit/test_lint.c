/* test_lint.c: the sums behind the lints. The findings themselves, to the
 * letter, are in test/golden/check. */

#include "config/lint/policy_lints.h"
#include "config/lint/rules.h"
#include "config/policy/policy_file.h"
#include "findings.h"

#define HEAD "version: 1\npolicies:\n"
#define MS   BIDE_MILLISECOND
#define S    BIDE_SECOND

static size_t warnings(const char *text, const char *entry,
                       const struct bide__service *stated)
{
    bide_config *config = must_parse(text);
    bide_diagnostics *notes = bide_diagnostics_new();
    size_t n;

    bide__lint_with(config, entry ? bide__config_entry(config, entry) : NULL,
                    stated, notes);
    n = bide_diagnostics_count(notes, BIDE_WARNING);
    bide_diagnostics_free(notes);
    bide_config_free(config);
    return n;
}

static void longest_call_adds_up_and_saturates(void **state)
{
    static const struct {
        uint32_t attempts;
        int64_t timeout_ns, base_ns, cap_ns;
        bide_jitter jitter;
        int64_t want_ns;
    } rows[] = {
        { 1, 2 * S, 100 * MS, 30 * S, BIDE_JITTER_FULL, 2 * S },
        { 4, 2 * S, 100 * MS, 30 * S, BIDE_JITTER_FULL, 8700 * MS },
        { 4, 2 * S, 100 * MS, 150 * MS, BIDE_JITTER_EQUAL, 8400 * MS },
        /* 300, 900 and 2700 ms */
        { 4, S, 100 * MS, 30 * S, BIDE_JITTER_DECORRELATED, 7900 * MS },
        { 1001, 1 * MS, 1 * MS, 1 * MS, BIDE_JITTER_NONE, 2001 * MS },
        { 4, INT64_MAX, 100 * MS, 30 * S, BIDE_JITTER_FULL, INT64_MAX },
        { 2147483648, 10 * S, S, INT64_MAX, BIDE_JITTER_FULL, INT64_MAX },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf c = BIDE_POLICY_CONF_INIT;

        c.attempts = rows[i].attempts;
        c.attempt_timeout_ns = rows[i].timeout_ns;
        c.backoff.base_ns = rows[i].base_ns;
        c.backoff.cap_ns = rows[i].cap_ns;
        c.backoff.jitter = rows[i].jitter;
        assert_true(bide__longest_call(&c, c.attempts) == rows[i].want_ns);
    }
}

static void lint_default_and_presets_are_clean(void **state)
{
    char text[128];

    (void)state;
    assert_int_equal(warnings(HEAD "  a: {}\n", NULL, NULL), 0);
    for (size_t i = 0; bide_policy_preset_name(i); i++) {
        snprintf(text, sizeof text, HEAD "  a: { preset: %s }\n",
                 bide_policy_preset_name(i));
        assert_int_equal(warnings(text, NULL, NULL), 0);
    }
}

static void lint_stated_goes_before_the_file(void **state)
{
    static const char text[] = HEAD "  a: { service: { depth: 3 } }\n";
    struct bide__service stated = BIDE__SERVICE_INIT;

    (void)state;
    assert_int_equal(warnings(text, NULL, NULL), 1);
    assert_int_equal(warnings(text, NULL, &stated), 1);
    stated.depth = 1;
    assert_int_equal(warnings(text, NULL, &stated), 0);
    stated.p99_ns = 20 * S;
    assert_int_equal(warnings(text, NULL, &stated), 1);
    stated.load_per_s = 100;
    stated.capacity_per_s = 105;
    assert_int_equal(warnings(text, NULL, &stated), 2);
}

static void lint_of_one_policy_leaves_the_others(void **state)
{
    static const char text[] = HEAD "  a: { backoff: { jitter: none } }\n"
                                    "  b: { breaker: { kind: off } }\n"
                                    "  c: { extends: a }\n";

    (void)state;
    assert_int_equal(warnings(text, "a", NULL), 1);
    assert_int_equal(warnings(text, "b", NULL), 1);
    assert_int_equal(warnings(text, "c", NULL), 1); /* at the line of a */
    assert_int_equal(warnings(text, NULL, NULL), 2);
}

static void lint_without_notes_is_nothing(void **state)
{
    bide_config *config = must_parse(HEAD "  a: { backoff: { base: 0 } }\n");

    (void)state;
    bide__lint(config, NULL, NULL);
    bide_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longest_call_adds_up_and_saturates),
        cmocka_unit_test(lint_default_and_presets_are_clean),
        cmocka_unit_test(lint_stated_goes_before_the_file),
        cmocka_unit_test(lint_of_one_policy_leaves_the_others),
        cmocka_unit_test(lint_without_notes_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
