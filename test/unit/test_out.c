/* test_out.c: a buffer that grows, and numbers in it. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/out.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void expect(struct bide__out *out, const char *want)
{
    assert_false(out->failed);
    bide__out_char(out, '\0');
    assert_string_equal(out->data, want);
    bide__out_clear(out);
}

static void out_grows_and_keeps_what_it_has(void **state)
{
    struct bide__out out = { 0 };

    (void)state;
    for (int i = 0; i < 100000; i++)
        bide__out_char(&out, (char)('a' + i % 26));
    assert_false(out.failed);
    assert_int_equal(out.len, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(out.data[i], 'a' + i % 26);
    bide__out_clear(&out);
    assert_int_equal(out.len, 0);
    assert_non_null(out.data);
    bide__out_done(&out);
    bide__out_done(&out);
}

static void out_whole_numbers(void **state)
{
    struct bide__out out = { 0 };

    (void)state;
    bide__out_u64(&out, 0);
    expect(&out, "0");
    bide__out_u64(&out, UINT64_MAX);
    expect(&out, "18446744073709551615");
    bide__out_i64(&out, INT64_MIN);
    expect(&out, "-9223372036854775808");
    bide__out_i64(&out, INT64_MAX);
    expect(&out, "9223372036854775807");
    bide__out_done(&out);
}

static void out_fractions_are_short_and_exact(void **state)
{
    static const struct {
        double n;
        const char *want;
    } rows[] = {
        { 0, "0" },
        { 0.1, "0.1" },
        { 1.5, "1.5" },
        { -2.25, "-2.25" },
        { 1e15, "1000000000000000" },
        { 1e300, "1e+300" },
        { 1.0 / 3, "0.3333333333333333" },
        { NAN, "NaN" },
        { INFINITY, "+Inf" },
        { -INFINITY, "-Inf" },
    };
    struct bide__out out = { 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide__out_double(&out, rows[i].n);
        expect(&out, rows[i].want);
    }
    bide__out_done(&out);
}

static void out_seconds_are_exact(void **state)
{
    static const struct {
        uint64_t ns;
        const char *want;
    } rows[] = {
        { 0, "0" },
        { 1, "0.000000001" },
        { 32000, "0.000032" },
        { 1500000000, "1.5" },
        { 60000000000, "60" },
        { UINT64_MAX, "18446744073.709551615" },
    };
    struct bide__out out = { 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide__out_seconds(&out, rows[i].ns);
        expect(&out, rows[i].want);
    }
    bide__out_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_grows_and_keeps_what_it_has),
        cmocka_unit_test(out_whole_numbers),
        cmocka_unit_test(out_fractions_are_short_and_exact),
        cmocka_unit_test(out_seconds_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
