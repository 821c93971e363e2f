/* test_value.c: durations, ratios, rates and numbers, both ways. */
#include "config/field/value.h"

#include <stdlib.h>

#include "findings.h"

#define BAD INT64_MIN
#define S   BIDE_SECOND

static void duration_texts_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } rows[] = {
        { "0", 0 },
        { "0s", 0 },
        { "1ns", 1 },
        { "1us", 1000 },
        { "1\xc2\xb5s", 1000 },
        { "250ms", 250 * BIDE_MILLISECOND },
        { "2s", 2 * S },
        { "5m", 300 * S },
        { "1h30m", 5400 * S },
        { "1d", 86400 * S },
        { "1d2h3m4s5ms6us7ns", 93784 * S + 5006007 },
        { "1.5s", 1500 * BIDE_MILLISECOND },
        { "0.1s", 100 * BIDE_MILLISECOND },
        { "0.3ms", 300000 },
        { "0.000000001s", 1 },
        { "0.0000000019s", 1 }, /* what is under a nanosecond is cut off */
        { "0.5d", 43200 * S },
        { "1.123456789m", 67407407340 },
        { "9223372036854775806ns", INT64_MAX - 1 },
        { "9223372036854775807ns", INT64_MAX },
        { "9223372036854775808ns", INT64_MAX },
        { "106751d", INT64_C(106751) * 86400 * S },
        { "106752d", INT64_MAX },
        { "99999999999999999999999h", INT64_MAX },
        { "200000d1s", INT64_MAX },
        { "", BAD },
        { "1", BAD },
        { "00", BAD },
        { "s", BAD },
        { ".5s", BAD },
        { "5.s", BAD },
        { "-1s", BAD },
        { "+1s", BAD },
        { "1 s", BAD },
        { " 1s", BAD },
        { "1s ", BAD },
        { "1S", BAD },
        { "1min", BAD },
        { "1s1s", BAD },
        { "1m1h", BAD },
        { "1us1\xc2\xb5s", BAD },
        { "1e3s", BAD },
        { "1,5s", BAD },
        { "0x1s", BAD },
        { "infs", BAD },
        { "1h30", BAD },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t got = BAD;
        int rc = bide_parse_duration(rows[i].text, strlen(rows[i].text), &got);

        if (got != rows[i].ns || rc != (rows[i].ns == BAD ? BIDE_EPARSE : 0))
            fail_msg("%s: %lld (%d)", rows[i].text, (long long)got, rc);
    }
}

static void duration_formats_briefly_and_exactly(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {
        { 0, "0" },
        { 1, "1ns" },
        { 1500, "1.5us" },
        { 250 * BIDE_MILLISECOND, "250ms" },
        { 1500 * BIDE_MILLISECOND, "1.5s" },
        { 90 * S, "1m30s" },
        { 90500 * BIDE_MILLISECOND, "1m30.5s" },
        { 3600 * S, "1h" },
        { 3600 * S + 5 * BIDE_MILLISECOND, "1h5ms" },
        { 86400 * S, "24h" },
        { INT64_MAX - 1, "2562047h47m16.854775806s" },
        { INT64_MAX, "forever" },
        { -1500 * BIDE_MILLISECOND, "-1.5s" },
    };
    char buffer[32];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(
            bide_format_duration(rows[i].ns, buffer, sizeof buffer),
            rows[i].text);
    bide_format_duration(INT64_MIN, buffer, sizeof buffer);
    assert_true(strlen(buffer) < sizeof buffer);
    assert_string_equal(bide_format_duration(90 * S, buffer, 3), "1m");
    assert_string_equal(bide_format_duration(S, NULL, 0), "");
}

static void duration_that_was_written_reads_back(void **state)
{
    uint64_t x = 88172645463325252;
    char buffer[32];
    int64_t back;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        int64_t ns;

        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        ns = (int64_t)(x >> (1 + i % 63));
        bide_format_duration(ns, buffer, sizeof buffer);
        if (ns == INT64_MAX)
            continue;
        if (bide_parse_duration(buffer, strlen(buffer), &back) != 0 ||
            back != ns)
            fail_msg("%lld: %s", (long long)ns, buffer);
    }
}

static void ratio_and_rate_texts_are_read(void **state)
{
    static const struct {
        int (*parse)(const char *text, size_t len, double *ret);
        const char *text;
        double want; /* -1: refused */
    } rows[] = {
        { bide_parse_ratio, "10%", 0.1 },
        { bide_parse_ratio, "0.1", 0.1 },
        { bide_parse_ratio, "12.5%", 0.125 },
        { bide_parse_ratio, "100%", 1 },
        { bide_parse_ratio, "0", 0 },
        { bide_parse_ratio, "250%", 2.5 },
        { bide_parse_ratio, "%", -1 },
        { bide_parse_ratio, "", -1 },
        { bide_parse_ratio, "10 %", -1 },
        { bide_parse_ratio, "-10%", -1 },
        { bide_parse_ratio, "nan", -1 },
        { bide_parse_ratio, "0,1", -1 },
        { bide_parse_rate, "1/s", 1 },
        { bide_parse_rate, "30/m", 0.5 },
        { bide_parse_rate, "30/min", 0.5 },
        { bide_parse_rate, "0.5/s", 0.5 },
        { bide_parse_rate, "3600/h", 1 },
        { bide_parse_rate, "86400/d", 1 },
        { bide_parse_rate, "2/ms", 2000 },
        { bide_parse_rate, "0", 0 },
        { bide_parse_rate, "0/s", 0 },
        { bide_parse_rate, "1", -1 },
        { bide_parse_rate, "/s", -1 },
        { bide_parse_rate, "1/", -1 },
        { bide_parse_rate, "1/x", -1 },
        { bide_parse_rate, "1 /s", -1 },
        { bide_parse_rate, "1e400/s", -1 },
        { bide__parse_number, "1.5", 1.5 },
        { bide__parse_number, "1e3", 1000 },
        { bide__parse_number, "1.5E-3", 0.0015 },
        { bide__parse_number, "0.1", 0.1 },
        { bide__parse_number, "123456789.123456789", 123456789.123456789 },
        { bide__parse_number, "1e22", 1e22 },
        { bide__parse_number, "1e309", -1 },
        { bide__parse_number, "1e-400", 0 },
        { bide__parse_number, "1e99999999999", -1 },
        { bide__parse_number, "0e99999999999", 0 },
        { bide__parse_number, "1e", -1 },
        { bide__parse_number, "1.", -1 },
        { bide__parse_number, "1.5x", -1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        double got = -1;
        int rc = rows[i].parse(rows[i].text, strlen(rows[i].text), &got);

        if ((rows[i].want < 0) != (rc < 0) || got != rows[i].want)
            fail_msg("%s: %.17g (%d)", rows[i].text, got, rc);
    }
}

static uint64_t draw(void)
{
    static uint64_t x = 88172645463325252;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x >> 11;
}

/* A number somebody may write: up to 25 digits, with or without a dot and an
 * exponent. */
static void random_number(char *text)
{
    static const char *const exponents[] = { "",     "e5",    "e-7",
                                             "E+22", "e-310", "e270" };
    size_t n = 1 + draw() % 25, dot = draw() % 26;

    for (size_t i = 0; i < n; i++) {
        *text++ = (char)('0' + draw() % 10);
        if (i + 1 == dot && i + 1 < n)
            *text++ = '.';
    }
    strcpy(text, exponents[draw() % COUNT(exponents)]);
}

/* Multiplied up in steps, "7e44" and a fifth of these were one bit off. */
static void regress_numbers_are_the_nearest_double(void **state)
{
    char text[40];
    double got, want;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        random_number(text);
        want = strtod(text, NULL); /* of the C locale, which tests have */
        got = -1;
        if (bide__parse_number(text, strlen(text), &got) < 0 || got != want)
            fail_msg("%s: %.17g, not %.17g", text, got, want);
    }
}

/* Half way between two doubles, with something in the last of many digits. */
static void numbers_of_any_length_are_rounded_right(void **state)
{
    static const char half[] = "9007199254740993"; /* 2^53 + 1 */
    char text[2000];
    double got;

    (void)state;
    memset(text, '0', sizeof text);
    memcpy(text, half, sizeof half - 1);
    text[sizeof half - 1] = '.';
    assert_int_equal(bide__parse_number(text, sizeof text, &got), 0);
    assert_true(got == 9007199254740992.0);
    text[sizeof text - 1] = '1';
    assert_int_equal(bide__parse_number(text, sizeof text, &got), 0);
    assert_true(got == 9007199254740994.0);
    text[sizeof half - 1] = '0';
    assert_int_equal(bide__parse_number(text, sizeof text, &got), BIDE_EPARSE);
}

static void numbers_are_written_as_files_have_them(void **state)
{
    char b[40];

    (void)state;
    assert_string_equal(bide__format_ratio(0.1, b, sizeof b), "10%");
    assert_string_equal(bide__format_ratio(0.05, b, sizeof b), "5%");
    assert_string_equal(bide__format_ratio(0.999, b, sizeof b), "99.9%");
    assert_string_equal(bide__format_ratio(0, b, sizeof b), "0%");
    assert_string_equal(bide__format_ratio(1.0 / 3, b, sizeof b),
                        "0.3333333333333333");
    assert_string_equal(bide__format_rate(0.5, b, sizeof b), "0.5/s");
    assert_string_equal(bide__format_rate(1e6, b, sizeof b), "1000000/s");
    assert_string_equal(bide__format_number(2, b, sizeof b), "2");
    assert_string_equal(bide__format_number(0.1, b, sizeof b), "0.1");
    assert_string_equal(bide__format_about(8700 * BIDE_MILLISECOND, b, 40),
                        "8.7s");
    assert_string_equal(bide__format_about(1234567891, b, 40), "1.234s");
    assert_string_equal(bide__format_about(87 * S + 123456789, b, 40), "1m27s");
    assert_string_equal(bide__format_about(BIDE_FOREVER, b, 40), "forever");
}

static void counts_saturate(void **state)
{
    uint64_t n = 7;

    (void)state;
    assert_int_equal(bide__parse_count("18446744073709551615", 20, &n), 0);
    assert_true(n == UINT64_MAX);
    assert_int_equal(bide__parse_count("18446744073709551616", 20, &n), 0);
    assert_true(n == UINT64_MAX);
    assert_int_equal(bide__parse_count("12", 1, &n), 0);
    assert_true(n == 1);
    assert_int_equal(bide__parse_count("", 0, &n), BIDE_EPARSE);
    assert_int_equal(bide__parse_count("1a", 2, &n), BIDE_EPARSE);
    assert_int_equal(bide_parse_duration(NULL, 0, NULL), BIDE_EINVAL);
    assert_int_equal(bide_parse_ratio("1", 1, NULL), BIDE_EINVAL);
    assert_int_equal(bide_parse_rate(NULL, 0, NULL), BIDE_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duration_texts_are_read),
        cmocka_unit_test(duration_formats_briefly_and_exactly),
        cmocka_unit_test(duration_that_was_written_reads_back),
        cmocka_unit_test(ratio_and_rate_texts_are_read),
        cmocka_unit_test(regress_numbers_are_the_nearest_double),
        cmocka_unit_test(numbers_of_any_length_are_rounded_right),
        cmocka_unit_test(numbers_are_written_as_files_have_them),
        cmocka_unit_test(counts_saturate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
