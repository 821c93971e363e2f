/* test_options.c: the table of options describes the whole struct, once.
 * (test/checks/defaults.py holds it against the comments of the headers.) */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bide/bide.h"
#include "lib/policy.h"

static size_t width(bide_option_type type)
{
    switch (type) {
    case BIDE_OPTION_DURATION:
        return sizeof(int64_t);
    case BIDE_OPTION_COUNT:
        return sizeof(uint32_t);
    case BIDE_OPTION_FLAG:
        return sizeof(bool);
    case BIDE_OPTION_CHOICE:
        return sizeof(bide_jitter);
    case BIDE_OPTION_DELAYS:
        return sizeof(bide_delays);
    default:
        return sizeof(double);
    }
}

static const bide_option *find(const char *key)
{
    size_t n;
    const bide_option *o = bide_policy_options(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(o[i].key, key) == 0)
            return &o[i];
    fail_msg("no option %s", key);
    return NULL;
}

static void options_without_count_are_given_too(void **state)
{
    size_t n = 0;

    (void)state;
    assert_ptr_equal(bide_policy_options(NULL), bide_policy_options(&n));
    assert_true(n > 50);
    assert_null(bide__option_key((int)n));
    assert_null(bide__option_error((int)n));
    assert_null(bide__option_key(-1));
    assert_null(bide__option_error(-1));
}

/* Every byte of the struct belongs to one option, or is one of the five
 * members that are not for a file to set, or is padding: less of it than the
 * member behind it is wide, and only in front of one that needs it. */
static void options_cover_each_field_once(void **state)
{
    enum { SIZE = sizeof(bide_policy_conf) };
    unsigned char used[SIZE] = { 0 };
    size_t n, padding = 0;
    const bide_option *o = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        assert_true(o[i].offset + width(o[i].type) <= SIZE);
        if (o[i].type != BIDE_OPTION_DELAYS)
            assert_int_equal(o[i].offset % width(o[i].type), 0);
        for (size_t j = 0; j < width(o[i].type); j++)
            if (used[o[i].offset + j]++)
                fail_msg("%s overlaps another option", o[i].key);
    }
    memset(used + offsetof(bide_policy_conf, size), 1, sizeof(size_t));
    memset(used + offsetof(bide_policy_conf, rules), 1, sizeof(void *));
    memset(used + offsetof(bide_policy_conf, n_rules), 1, sizeof(size_t));
    memset(used + offsetof(bide_policy_conf, wait), 1, sizeof(bide_wait_fn));
    memset(used + offsetof(bide_policy_conf, wait_ctx), 1, sizeof(void *));
    for (size_t at = 0; at < SIZE; at++) {
        padding = used[at] ? 0 : padding + 1;
        if (padding >= sizeof(int64_t))
            fail_msg("no option for the field at offset %zu", at);
    }
}

static void options_reach_the_fields_they_name(void **state)
{
    static const struct {
        const char *key;
        size_t offset;
    } rows[] = {
#define ROW(key, field) { key, offsetof(bide_policy_conf, field) }
        ROW("attempts", attempts),
        ROW("attempt_timeout", attempt_timeout_ns),
        ROW("deadline", deadline_ns),
        ROW("backoff.base", backoff.base_ns),
        ROW("backoff.cap", backoff.cap_ns),
        ROW("backoff_throttled.base", backoff_throttled.base_ns),
        ROW("backoff.shape", backoff.shape),
        ROW("backoff.delays", backoff.delays),
        ROW("backoff_conflict.delays", backoff_conflict.delays),
        ROW("backoff_timeout.factor", backoff_timeout.factor),
        ROW("budget.per_call", budget.per_call),
        ROW("limits.rate", limits.rate),
        ROW("limits.rate_wait", limits.rate_wait_ns),
        ROW("limits.adaptive_initial", limits.adaptive_initial),
        ROW("retry_after.max", retry_after.max_ns),
        ROW("budget.ratio", budget.ratio),
        ROW("budget.cost_throttled", budget.cost_throttled),
        ROW("breaker.failure_rate", breaker.failure_rate),
        ROW("breaker.slow_rate", breaker.slow_rate),
        ROW("hedge.max", hedge.max),
        ROW("limits.queue", limits.queue),
        ROW("latency.measure", latency.measure),
        ROW("lanes", lanes),
#undef ROW
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(find(rows[i].key)->offset, rows[i].offset);
}

static bool is_key(const char *key)
{
    bool letter = false;
    for (const char *c = key; *c; c++) {
        if (*c == '.' || *c == '_') {
            if (!letter)
                return false;
            letter = false;
        } else if (islower((unsigned char)*c)) {
            letter = true;
        } else {
            return false;
        }
    }
    return letter;
}

static void options_keys_are_unique_and_well_formed(void **state)
{
    size_t n;
    const bide_option *o = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        if (!is_key(o[i].key))
            fail_msg("\"%s\" is no key", o[i].key);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(o[i].key, o[j].key);
    }
}

static void options_texts_are_sentences(void **state)
{
    size_t n;
    const bide_option *o = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const char *help = o[i].help, *expects = o[i].expects;
        if (!isupper((unsigned char)help[0]) || help[strlen(help) - 1] != '.')
            fail_msg("help of %s: \"%s\"", o[i].key, help);
        if (isupper((unsigned char)expects[0]) ||
            expects[strlen(expects) - 1] == '.')
            fail_msg("%s: \"%s\"", o[i].key, expects);
        assert_null(
            strstr(help, "  ")); /* strings put together in the source */
        assert_null(strstr(expects, "  "));
    }
}

static void options_special_words_are_among_what_is_expected(void **state)
{
    size_t n;
    const bide_option *o = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        if (!o[i].special)
            continue;
        if (!strstr(o[i].expects, o[i].special))
            fail_msg("%s does not say \"%s\"", o[i].key, o[i].special);
        assert_true(o[i].type == BIDE_OPTION_DURATION ||
                    o[i].type == BIDE_OPTION_COUNT ||
                    o[i].type == BIDE_OPTION_NUMBER ||
                    o[i].type == BIDE_OPTION_DELAYS);
    }
}

static void options_choices_are_named_as_expected(void **state)
{
    size_t n;
    const bide_option *o = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        assert_true((o[i].type == BIDE_OPTION_CHOICE) ==
                    (o[i].choices != NULL));
        for (size_t j = 0; o[i].choices && o[i].choices[j]; j++)
            if (!strstr(o[i].expects, o[i].choices[j]))
                fail_msg("%s does not name \"%s\"", o[i].key, o[i].choices[j]);
    }
}

static void assert_choices(const char *key, const char *const *names)
{
    const bide_option *o = find(key);
    size_t i;
    for (i = 0; names[i]; i++)
        assert_string_equal(o->choices[i], names[i]);
    assert_null(o->choices[i]);
}

/* In the order of the enums: a file's word becomes this very number. */
static void options_choices_follow_their_enums(void **state)
{
    static const char *const jitter[] = { "none",         "full",
                                          "equal",        "decorrelated",
                                          "proportional", NULL };
    static const char *const shape[] = { "exponential", "linear", NULL };
    static const char *const adaptive[] = { "off", "aimd", "gradient", NULL };
    static const char *const budget[] = { "off",      "window",    "quota",
                                          "throttle", "in_flight", NULL };
    static const char *const breaker[] = { "off", "time", "count", NULL };
    static const char *const mode[] = { "normal", "forced_open",
                                        "forced_closed", "dry_run", NULL };
    static const char *const deposit[] = { "success", "call", NULL };
    static const char *const hint[] = { "replace", "floor", NULL };
    static const char *const unhinted[] = { "backoff", "stop", NULL };
    static const char *const nested[] = { "pass", "retry", NULL };
    static const char *const key[] = { "none", "generate", NULL };

    (void)state;
    assert_choices("backoff.jitter", jitter);
    assert_choices("backoff.shape", shape);
    assert_choices("limits.adaptive", adaptive);
    assert_choices("budget.kind", budget);
    assert_choices("breaker.kind", breaker);
    assert_choices("breaker.mode", mode);
    assert_choices("budget.deposit", deposit);
    assert_choices("retry_after.mode", hint);
    assert_choices("retry_after.throttled_without_hint", unhinted);
    assert_choices("nested", nested);
    assert_choices("idempotency.key", key);
}

static void options_bounds_are_in_order(void **state)
{
    size_t n;
    const bide_option *o = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        if (o[i].type == BIDE_OPTION_FLAG || o[i].type == BIDE_OPTION_CHOICE)
            continue;
        assert_true(o[i].min >= 0 && o[i].min < o[i].max);
        if (o[i].type == BIDE_OPTION_RATIO)
            assert_true(o[i].max <= 4); /* hedges per call: hedge.max */
        if (o[i].type == BIDE_OPTION_COUNT)
            assert_true(o[i].max <= UINT32_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_without_count_are_given_too),
        cmocka_unit_test(options_cover_each_field_once),
        cmocka_unit_test(options_reach_the_fields_they_name),
        cmocka_unit_test(options_keys_are_unique_and_well_formed),
        cmocka_unit_test(options_texts_are_sentences),
        cmocka_unit_test(options_special_words_are_among_what_is_expected),
        cmocka_unit_test(options_choices_are_named_as_expected),
        cmocka_unit_test(options_choices_follow_their_enums),
        cmocka_unit_test(options_bounds_are_in_order),
    };

    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
