/* test_people.c: numbers and durations as people read them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/people.h"
#include "bide/policy.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void brief_shows_so_many_digits(void **state)
{
    static const struct {
        double x;
        int digits;
        const char *want;
    } rows[] = {
        { 0, 3, "0" },
        { -0.0, 3, "0" },
        { 1, 3, "1" },
        { 1.234, 3, "1.23" },
        { 9.994, 3, "9.99" },
        { 9.996, 3, "10" },
        { 12.34, 3, "12.3" },
        { 99.96, 3, "100" },
        { 1234.5, 3, "1234" },
        { 0.05, 3, "0.05" },
        { 0.012345, 3, "0.0123" },
        { 0.9991, 3, "0.999" },
        { 0.9996, 3, "1" },
        { -1.234, 3, "-1.23" },
        { 9.96, 2, "10" },
        { 0.0449, 1, "0.04" },
        { 1e-20, 3, "0" },
    };
    char text[48];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int places = bide__places(rows[i].x, rows[i].digits, 0.9995, 8);

        assert_string_equal(bide__fixed(rows[i].x, places, text, sizeof text),
                            rows[i].want);
    }
}

static void brief_places_are_bounded(void **state)
{
    (void)state;
    assert_int_equal(bide__places(1e-20, 3, 0.9995, 6), 6);
    assert_int_equal(bide__places(0.997, 3, 0.995, 6), 2);
    assert_int_equal(bide__places(0.997, 3, 0.9995, 6), 3);
    assert_int_equal(bide__places(INFINITY, 3, 0.9995, 6), 0);
}

static void brief_unit_is_the_first_that_is_large_enough(void **state)
{
    static const struct bide__unit units[] = { { 999.5, 1, "" },
                                               { 999.5e3, 1e3, "k" },
                                               { 0, 1e6, "M" } };

    (void)state;
    assert_string_equal(bide__unit_of(units, 0)->name, "");
    assert_string_equal(bide__unit_of(units, 999.4)->name, "");
    assert_string_equal(bide__unit_of(units, -999.5)->name, "k");
    assert_string_equal(bide__unit_of(units, 1e30)->name, "M");
    assert_string_equal(bide__unit_of(units, (double)NAN)->name, "M");
}

static void brief_durations(void **state)
{
    static const struct {
        int64_t ns;
        const char *want;
    } rows[] = {
        { 0, "0" },
        { 1, "1ns" },
        { 999, "999ns" },
        { 1000, "1us" },
        { 999499, "999us" },
        { 999500, "1ms" },
        { 1234567, "1.23ms" },
        { 1500000000, "1.5s" },
        { 59940000000, "59.9s" },
        { 59950000000, "1m" },
        { 125 * BIDE_SECOND, "2m5s" },
        { 2 * BIDE_HOUR, "2h" },
        { 90 * BIDE_MINUTE, "1h30m" },
        { 76 * BIDE_HOUR, "3d4h" },
        { 24000 * BIDE_HOUR, "2y270d" },
        { INT64_MAX, "forever" },
        { INT64_MAX - 1, "292y171d" },
    };
    char text[24];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(bide__brief_duration(rows[i].ns, text, sizeof text),
                            rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brief_shows_so_many_digits),
        cmocka_unit_test(brief_places_are_bounded),
        cmocka_unit_test(brief_unit_is_the_first_that_is_large_enough),
        cmocka_unit_test(brief_durations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
