/* test_problem.c: problem details from a body that may be hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bide/error.h"
#include "bide/hint.h"
#include "bide/policy.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define S BIDE_SECOND
#define NONE INT64_C(-1)

/* Reads from a block of exactly this size, so that a sanitizer sees any read
 * past its end. */
static int read_exactly(const void *body, size_t len, bide_problem *ret)
{
    char *copy = malloc(len ? len : 1);
    int rc;

    assert_non_null(copy);
    memcpy(copy, body, len);
    rc = bide_problem_read(copy, len, ret);
    free(copy);
    return rc;
}

static bide_problem must_read(const char *body)
{
    bide_problem p;

    if (read_exactly(body, strlen(body), &p) != 0)
        fail_msg("refused: %s", body);
    return p;
}

static void must_refuse(const char *body, size_t len)
{
    bide_problem p, before;

    memset(&p, 0x5a, sizeof p);
    before = p;
    if (read_exactly(body, len, &p) != BIDE_EPARSE)
        fail_msg("taken: %.*s", (int)len, body);
    assert_memory_equal(&p, &before, sizeof p);
}

static void problem_members_are_read(void **state)
{
    bide_problem p = must_read(
        "{\"type\": \"https://example.com/probs/out-of-credit\",\n"
        " \"title\": \"You do not have enough credit.\", \"status\": 503,\n"
        " \"detail\": \"caf\xc3\xa9 \\u00e9 \\ud83d\\ude00\",\n"
        " \"accounts\": [\"/account/12345\", {\"a\": [null, true]}],\n"
        " \"retry_after\": 30, \"retryable\": false}\r\n");

    (void)state;
    assert_string_equal(p.type, "https://example.com/probs/out-of-credit");
    assert_true(p.has_retry_after);
    assert_true(p.retry_after_ns == 30 * S);
    assert_true(p.not_retryable);

    p = must_read(" {} ");
    assert_string_equal(p.type, "");
    assert_false(p.has_retry_after);
    assert_true(p.retry_after_ns == 0);
    assert_false(p.not_retryable);
}

static void problem_retry_after_of_any_number_saturates(void **state)
{
    static const struct {
        const char *value;
        int64_t want;
    } rows[] = {
        { "0", 0 },
        { "1", S },
        { "1.5", S + S / 2 },
        { "0.000000001", 1 },
        { "0.0000000001", 1 }, /* rounds up */
        { "1e-9", 1 },
        { "1e-10", 1 },
        { "1e-400", 1 },
        { "0e-400", 0 },
        { "0e400", 0 },
        { "0.0e99999999999999999999", 0 },
        { "1e3", 1000 * S },
        { "1E3", 1000 * S },
        { "1e+3", 1000 * S },
        { "1.25e2", 125 * S },
        { "12500e-2", 125 * S },
        { "125000000000000000000000000000e-27", 125 * S },
        { "0.00000000000000000000000000000125e32", 125 * S },
        { "1e00000000000000000000000000000000000000000002", 100 * S },
        { "9223372036.854775806", INT64_MAX - 1 },
        { "9223372036.8547758051", INT64_MAX - 1 },
        { "9223372036.854775807", INT64_MAX },
        { "9223372036.854775808", INT64_MAX },
        { "922337203685477580.6e-8", INT64_MAX - 1 },
        { "1e10", INT64_MAX },
        { "1e400", INT64_MAX },
        { "1e99999999999999999999", INT64_MAX },
        { "99999999999999999999", INT64_MAX },
        { "1e-99999999999999999999", 1 },
        /* not a hint */
        { "-0", NONE },
        { "-1", NONE },
        { "-1e400", NONE },
        { "\"5\"", NONE },
        { "null", NONE },
        { "true", NONE },
        { "false", NONE },
        { "[5]", NONE },
        { "{\"retry_after\": 5}", NONE },
    };
    char body[128];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_problem p;
        int64_t got;

        snprintf(body, sizeof body, "{\"retry_after\":%s}", rows[i].value);
        p = must_read(body);
        got = p.has_retry_after ? p.retry_after_ns : NONE;
        if (got != rows[i].want)
            fail_msg("%s: %lld instead of %lld", rows[i].value, (long long)got,
                     (long long)rows[i].want);
        assert_false(p.not_retryable);
    }
}

static void problem_retryable_counts_only_as_false(void **state)
{
    static const struct {
        const char *body;
        bool want;
    } rows[] = {
        { "{\"retryable\":false}", true },
        { "{\"retryable\":true}", false },
        { "{\"retryable\":null}", false },
        { "{\"retryable\":0}", false },
        { "{\"retryable\":\"false\"}", false },
        { "{\"retryable\":[false]}", false },
        { "{\"retryable\":{\"retryable\":false}}", false },
        { "{\"Retryable\":false}", false },
        { "{\"retryable \":false}", false },
        { "{\"retryable\\u0000\":false}", false },
        { "{\"retryabl\":false}", false },
        { "{\"retryablee\":false}", false },
        { "{\"\":false}", false },
        { "{\"\\u0072etryable\":false}", true },
        { "{\"a\":{\"retryable\":false},\"retryable\":true}", false },
        { "{\"a\":{\"b\":1},\"retryable\":false}", true },
        { "{\"a\":[1,{\"retryable\":false}]}", false },
        { "{\"retryable\":1,\"a\":false}", false },
        /* of repeated ones any false counts */
        { "{\"retryable\":false,\"retryable\":true}", true },
        { "{\"retryable\":true,\"retryable\":false}", true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (must_read(rows[i].body).not_retryable != rows[i].want)
            fail_msg("%s", rows[i].body);
}

static void problem_type_is_unescaped(void **state)
{
    static const struct {
        const char *value;
        const char *want;
    } rows[] = {
        { "\"about:blank\"", "about:blank" },
        { "\"\"", "" },
        { "\"https:\\/\\/x\\/y\"", "https://x/y" },
        { "\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\"",
          "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
        { "\"\\ud800\\udc00\\uDBFF\\uDFFF\"",
          "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
        { "\"\\uD7FF\\uE000\\uFFFF\"",
          "\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf" },
        { "\"\xc2\xa9\xed\x9f\xbf\xf4\x8f\xbf\xbf\"",
          "\xc2\xa9\xed\x9f\xbf\xf4\x8f\xbf\xbf" },
        { "\"\\\"\\\\\"", "\"\\" },
        /* no control characters, and no NUL that cuts it short */
        { "\"https://x\\u0000y\"", "" },
        { "\"a\\nb\"", "" },
        { "\"a\\tb\"", "" },
        { "\"a\\b\\f\\r\"", "" },
        { "\"a\\u001f\"", "" },
        { "\"a\\u007f\"", "" },
        { "\"a\\u009f\"", "" },
        { "\"a\x7f\"", "" },
        { "\"a\\u00a0\"", "a\xc2\xa0" },
        /* not a string */
        { "5", "" },
        { "null", "" },
        { "[\"x\"]", "" },
        { "{\"type\":\"x\"}", "" },
    };
    char body[128];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(body, sizeof body, "{ \"type\" : %s , \"a\":\"zzz\"}",
                 rows[i].value);
        assert_string_equal(must_read(body).type, rows[i].want);
    }
}

static void problem_type_too_long_is_absent(void **state)
{
    static const struct {
        int n;             /* letters, then ... */
        const char *more;
        bool fits;
    } rows[] = {
        { 254, "", true },
        { 255, "", true },
        { 256, "", false },
        { 253, "\xc3\xa9", true },
        { 254, "\xc3\xa9", false },
        { 251, "\\ud83d\\ude00", true },
        { 252, "\\ud83d\\ude00", false },
        { 252, "\\ud83d\\ude00" "a", false }, /* nothing is left out inside */
        { 9000, "", false },
    };
    char body[10000], letters[9001];

    (void)state;
    memset(letters, 'u', sizeof letters);
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(body, sizeof body,
                 "{\"type\":\"%.*s%s\",\"retry_after\":1}", rows[i].n, letters,
                 rows[i].more);
        assert_int_equal(must_read(body).type[0] != '\0', rows[i].fits);
        assert_true(must_read(body).has_retry_after);
    }
}

static void problem_repeated_member_counts_with_more_caution(void **state)
{
    bide_problem p = must_read("{\"retry_after\":5,\"retry_after\":9,"
                               "\"retry_after\":7,\"retry_after\":\"x\","
                               "\"type\":\"a\",\"type\":\"b\"}");

    (void)state;
    assert_true(p.has_retry_after);
    assert_true(p.retry_after_ns == 9 * S);
    assert_string_equal(p.type, "b");

    p = must_read("{\"retry_after\":5,\"retry_after\":0}");
    assert_true(p.retry_after_ns == 5 * S);
    /* one of the wrong type is as if absent; one too long replaces */
    assert_string_equal(must_read("{\"type\":\"a\",\"type\":5}").type, "a");
    assert_string_equal(must_read("{\"type\":\"a\",\"type\":\"\\n\"}").type,
                        "");
}

static void problem_of_valid_values_is_taken(void **state)
{
    static const char *const values[] = {
        "0", "-0", "10", "0.0", "-1.5e+10", "1E-2", "123456789012345678901",
        "true", "false", "null", "\"\"", "\" \"", "[]", "[ ]", "{}", "{ }",
        "[1,2]", "[ 1 , 2 ]", "[[],[]]", "[{}]", "{\"\":0}",
        "{\"a\":1,\"a\":1}", "\t1\n", "\r\n[\t]", "\"\\u0000\"",
        "\"\\\\\\\"\\/\\b\\f\\n\\r\\t\"", "\"\xf0\x9f\x98\x80\"",
        "\"\x7f\"", "\"\xef\xbb\xbf\"", "\"\xef\xbf\xbe\"", "1e99999",
    };
    char body[128];

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        snprintf(body, sizeof body, "{\"a\":%s}", values[i]);
        must_read(body);
        snprintf(body, sizeof body, "{\"a\":[%s, 1],\"b\":%s}", values[i],
                 values[i]);
        must_read(body);
    }
}

static void problem_of_invalid_values_is_refused(void **state)
{
    static const char *const values[] = {
        "", ",", "1 2", "1,", "01", "00", "-", "+1", "-01", "1.", ".5", "-.5",
        "1.e5", "1e", "1e+", "1e-", "1E5.0", "0x10", "1_0", "1a", "NaN",
        "Infinity", "-Infinity", "nul", "nulll", "True", "tru", "truee",
        "fals", "FALSE", "undefined", "'a'", "\"", "\"a", "a\"", "\"\\\"",
        "\"\\", "\"\\x41\"", "\"\\a\"", "\"\\u\"", "\"\\u12\"", "\"\\u123\"",
        "\"\\u12g4\"", "\"\\U0041\"", "\"\\u 123\"", "\"\\u+123\"",
        /* surrogates without their other half */
        "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800a\"", "\"\\ud800\\n\"",
        "\"\\ud800\\ud800\"", "\"\\udc00\\ud800\"", "\"\\ud800\\u0041\"",
        "\"\\ud800\\u\"", "\"\\ud800\\", "\"\\ud800\\udc0\"",
        /* control characters, and bytes that are not UTF-8 */
        "\"\t\"", "\"\n\"", "\"\x01\"", "\"\x1f\"", "\"\x80\"", "\"\xbf\"",
        "\"\xc0\x80\"", "\"\xc1\xbf\"", "\"\xc2\"", "\"\xc2\xc2\"",
        "\"\xe0\x80\x80\"", "\"\xe0\x9f\xbf\"", "\"\xe2\x82\"",
        "\"\xed\xa0\x80\"", "\"\xed\xbf\xbf\"", "\"\xf0\x80\x80\x80\"",
        "\"\xf0\x8f\xbf\xbf\"", "\"\xf0\x9f\x98\"", "\"\xf4\x90\x80\x80\"",
        "\"\xf5\x80\x80\x80\"", "\"\xfe\"", "\"\xff\"", "\"\xc2", "\"\xe2\x82",
        /* containers */
        "[", "]", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1 2]", "[1;2]", "[}",
        "[1}", "{", "{]", "{1:2}", "{a:1}", "{\"a\"}", "{\"a\":}",
        "{\"a\" 1}", "{\"a\":1,}", "{,}", "{,\"a\":1}", "{\"a\":1 \"b\":2}",
        "{\"a\"::1}", "{\"a\":1,,\"b\":2}", "{\"a\":1]", "[1]]", "{}}",
        "/**/1", "//\n1", "\f1", "\v1", "\xc2\xa0[]",
    };
    char body[128];

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        snprintf(body, sizeof body, "{\"a\":%s}", values[i]);
        must_refuse(body, strlen(body));
        snprintf(body, sizeof body, "{\"a\":{\"b\":[%s]}}",
                 *values[i] ? values[i] : ",");
        must_refuse(body, strlen(body));
    }
}

static void problem_that_is_not_one_object_is_refused(void **state)
{
    static const char *const bodies[] = {
        "", " ", "\n", "1", "null", "true", "\"type\"", "[]", "[{}]", "{",
        "}", "{}{}", "{} {}", "{},", "{}x", "{}\x01", "\xef\xbb\xbf{}",
        "<problem/>", "{\"type\":\"a\"} trailing", "x{}", "\f{}", "{} \x7f",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bodies); i++)
        must_refuse(bodies[i], strlen(bodies[i]));
}

static void problem_with_a_nul_is_refused(void **state)
{
    (void)state;
    must_refuse("{}\0", 3);
    must_refuse("\0{}", 3);
    must_refuse("{\0}", 3);
    must_refuse("{\"a\":\"\0\"}", 9);
    must_refuse("{\"a\":\"\\\0\"}", 10);
    must_refuse("{\"a\":\"\\u\0\0\0\0\"}", 14);
    must_refuse("{\"a\":1\0}", 8);
}

static void problem_cut_off_anywhere_is_refused(void **state)
{
    static const char body[] =
        "{\"type\":\"a\\n\\ud83d\\ude00\xf0\x9f\x98\x80\",\"retry_after\":"
        "-1.25e+10,\"retryable\":false,\"x\":[true,null,{\"y\":[{},[]]}]}";

    (void)state;
    must_read(body);
    for (size_t len = 0; len < sizeof body - 1; len++)
        must_refuse(body, len);
}

/* Writes `depth` containers inside one another. */
static size_t nest(char *to, int depth, const char *open, const char *close)
{
    char *at = to;

    at += sprintf(at, "{\"a\":");
    for (int i = 1; i < depth; i++)
        at += sprintf(at, "%s", open);
    at += sprintf(at, "1");
    for (int i = 1; i < depth; i++)
        at += sprintf(at, "%s", close);
    at += sprintf(at, ",\"retry_after\":3}");
    return (size_t)(at - to);
}

static void problem_nested_too_deep_is_refused(void **state)
{
    static const char *const pairs[][2] = {
        { "[", "]" }, { "{\"retry_after\":", "}" },
        { "[{\"retryable\":", "}]" }, /* two at a time */
    };
    char body[BIDE_PROBLEM_MAX];
    size_t len;

    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        int most = i < 2 ? 32 : 16;

        len = nest(body, most, pairs[i][0], pairs[i][1]);
        assert_true(must_read(body).retry_after_ns == 3 * S);
        len = nest(body, most + 1, pairs[i][0], pairs[i][1]);
        must_refuse(body, len);
        len = nest(body, 500, pairs[i][0], pairs[i][1]);
        must_refuse(body, len);
    }
    memset(body, '[', sizeof body);
    memcpy(body, "{\"a\":", 5);
    must_refuse(body, sizeof body);
}

/* Kinds of containers do not leak from one depth to another. */
static void problem_with_brackets_crossed_is_refused(void **state)
{
    static const char *const bodies[] = {
        "{\"a\":[{\"b\":[}]}}", "{\"a\":[[{]]}", "{\"a\":{\"b\":[1}}",
        "{\"a\":[\"b\":1]}", "{\"a\":{\"b\":{}},1}", "{\"a\":[{}],\"b\"}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bodies); i++)
        must_refuse(bodies[i], strlen(bodies[i]));
    must_read("{\"a\":[{\"b\":[]},[{}],{\"c\":{}}],\"d\":{\"e\":[]}}");
}

static void problem_longer_than_the_limit_is_refused(void **state)
{
    static char body[BIDE_PROBLEM_MAX + 1];
    bide_problem p;

    (void)state;
    memset(body, ' ', sizeof body);
    memcpy(body, "{\"retry_after\":7}", 17);
    assert_int_equal(read_exactly(body, BIDE_PROBLEM_MAX, &p), 0);
    assert_true(p.retry_after_ns == 7 * S);
    must_refuse(body, BIDE_PROBLEM_MAX + 1);
    assert_int_equal(bide_problem_read(body, SIZE_MAX, &p), BIDE_EPARSE);
}

static void problem_without_arguments_is_refused(void **state)
{
    bide_problem p;

    (void)state;
    assert_int_equal(bide_problem_read(NULL, 2, &p), BIDE_EINVAL);
    assert_int_equal(bide_problem_read(NULL, 0, &p), BIDE_EINVAL);
    assert_int_equal(bide_problem_read("{}", 2, NULL), BIDE_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problem_members_are_read),
        cmocka_unit_test(problem_retry_after_of_any_number_saturates),
        cmocka_unit_test(problem_retryable_counts_only_as_false),
        cmocka_unit_test(problem_type_is_unescaped),
        cmocka_unit_test(problem_type_too_long_is_absent),
        cmocka_unit_test(problem_repeated_member_counts_with_more_caution),
        cmocka_unit_test(problem_of_valid_values_is_taken),
        cmocka_unit_test(problem_of_invalid_values_is_refused),
        cmocka_unit_test(problem_that_is_not_one_object_is_refused),
        cmocka_unit_test(problem_with_a_nul_is_refused),
        cmocka_unit_test(problem_cut_off_anywhere_is_refused),
        cmocka_unit_test(problem_nested_too_deep_is_refused),
        cmocka_unit_test(problem_with_brackets_crossed_is_refused),
        cmocka_unit_test(problem_longer_than_the_limit_is_refused),
        cmocka_unit_test(problem_without_arguments_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
