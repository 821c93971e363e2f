/* test_summary.c: intervals over replications, and figures for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "sim/study/figure_text.h"
#include "sim/study/summary.h"

static void close_to(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-3 * fabs(expected) + 1e-12))
        fail_msg("%.17g is not %.17g", found, expected);
}

/* ===== intervals ===== */

/* Worked out with R: t.test(x)$conf.int. */
static void interval_is_students(void **state)
{
    static const double two[] = { 1, 2 }, five[] = { 4, 8, 6, 5, 7 };
    struct sim_interval i = sim_interval_of(SIM_FIG_P99, two, 2);

    (void)state;
    close_to(i.mean, 1.5);
    close_to(i.low, 1.5 * 1.5 / 7.853102); /* not -4.853102: it is a time */
    close_to(i.high, 7.853102);
    i = sim_interval_of(SIM_FIG_P99, five, 5);
    close_to(i.mean, 6);
    close_to(i.low, 6 * 6 / 7.963243);
    close_to(i.high, 7.963243);
    assert_true(i.least == 4 && i.most == 8 && i.n == 5 && i.infinite == 0);
}

/* Beyond the table: t of 99 degrees of freedom is 1.984217. */
static void interval_of_many_is_students(void **state)
{
    double values[100];

    (void)state;
    for (int k = 0; k < 100; k++)
        values[k] = k % 2;
    struct sim_interval i = sim_interval_of(SIM_FIG_P99, values, 100);
    close_to(i.high - i.mean, 1.984217 * sqrt(0.25 * 100 / 99) / 10);
}

/* There was a success of -6 %, and one of 103 %. Rows of values, and the interval
 * that is expected (by the formulas in summary.h): where there is room it is
 * Student's, as in the first and the seventh. */
static void regress_interval_stays_within_bounds(void **state)
{
    static const struct {
        enum sim_figure figure;
        double values[4];
        double low, high;
    } rows[] = {
        { SIM_FIG_SUCCESS, { 0.5, 0.51, 0.49, 0.5 }, 0.48701, 0.51299 },
        { SIM_FIG_SUCCESS, { 0.02, 0.3, 0.01, 0.05 }, 0.012378, 0.467864 },
        { SIM_FIG_SUCCESS, { 1, 0.7, 1, 0.99 }, 0.481276, 0.993494 },
        { SIM_FIG_SUCCESS, { 1, 1, 1, 1 }, 1, 1 },
        { SIM_FIG_WASTED, { 0, 0, 0, 0 }, 0, 0 },
        { SIM_FIG_WASTED, { 0, 0, 0, 0.4 }, 0.0076407, 0.615891 },
        { SIM_FIG_P99, { 1, 1.01, 0.99, 1 }, 0.9872, 1.01299 },
        { SIM_FIG_P99, { 0.1, 8, 0.1, 0.1 }, 0.515061, 8.35945 },
        { SIM_FIG_HEDGES, { 2, 1.5, 2.5, 2 }, 1.510, 2.6495 },
    };

    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        struct sim_interval i =
            sim_interval_of(rows[k].figure, rows[k].values, 4);

        assert_true(i.low >= 0 && i.low <= i.mean && i.mean <= i.high);
        assert_true(rows[k].figure != SIM_FIG_SUCCESS || i.high <= 1);
        if (fabs(i.low - rows[k].low) > 1e-3 * rows[k].low + 1e-9 ||
            fabs(i.high - rows[k].high) > 1e-3 * rows[k].high + 1e-9)
            fail_msg("row %zu: %g to %g", k, i.low, i.high);
    }
}

static void interval_of_one_has_no_width(void **state)
{
    double one = 3;
    struct sim_interval i = sim_interval_of(SIM_FIG_P99, &one, 1);

    (void)state;
    assert_true(i.mean == 3 && i.low == 3 && i.high == 3 && i.n == 1);
}

static void interval_counts_the_infinite(void **state)
{
    static const double values[] = { 2, INFINITY, 4, NAN, -INFINITY };
    struct sim_interval i = sim_interval_of(SIM_FIG_RECOVER, values, 5);

    (void)state;
    assert_true(i.n == 2 && i.infinite == 1 && i.overloaded == 1);
    close_to(i.mean, 3);
    assert_true(isinf(sim_interval_value(&i)));
    assert_true(i.least == 2 && i.most == 4);
}

static void interval_of_nothing_is_nan(void **state)
{
    static const double values[] = { NAN, INFINITY };
    struct sim_interval i = sim_interval_of(SIM_FIG_P99, values, 1);

    (void)state;
    assert_true(isnan(i.mean) && isnan(i.low) && isnan(i.least) && i.n == 0);
    assert_true(isnan(sim_interval_value(&i)));
    i = sim_interval_of(SIM_FIG_RECOVER, values, 2);
    assert_true(i.n == 0 && i.infinite == 1 && isinf(sim_interval_value(&i)));
    i = sim_interval_of(SIM_FIG_RECOVER, values, 0);
    assert_true(i.n == 0 && isnan(i.mean));
}

/* binom::binom.confint(0, 10, method = "wilson"), and 3 of 10. */
static void interval_of_stuck_is_wilsons(void **state)
{
    static const double none[10] = { 0 }, three[10] = { 1, 0, 1, 0, 1 };
    struct sim_interval i = sim_interval_of(SIM_FIG_STUCK, none, 10);

    (void)state;
    assert_true(i.low == 0);
    close_to(i.high, 0.2775328);
    i = sim_interval_of(SIM_FIG_STUCK, three, 10);
    close_to(i.low, 0.1077913);
    close_to(i.high, 0.6032219);
}

/* ===== for people ===== */

static void figure_text_has_three_digits_and_a_unit(void **state)
{
    static const struct {
        enum sim_figure figure;
        double x;
        const char *text;
    } rows[] = {
        { SIM_FIG_GOODPUT, 280, "280/s" },
        { SIM_FIG_GOODPUT, 0, "0/s" },
        { SIM_FIG_GOODPUT, 1234, "1234/s" },
        { SIM_FIG_GOODPUT, 12345, "12.3k/s" },
        { SIM_FIG_GOODPUT, 2.5e6, "2.5M/s" },
        { SIM_FIG_SUCCESS, 0.5, "50%" },
        { SIM_FIG_SUCCESS, 1, "100%" },
        { SIM_FIG_SUCCESS, 0.9997, "99.97%" },
        { SIM_FIG_SUCCESS, 0.999999, "99.99%" },
        { SIM_FIG_FAILURES, 0.0003, "0.03%" },
        { SIM_FIG_AMPLIFICATION, 1.2149, "1.21x" },
        { SIM_FIG_AMPLIFICATION, 64, "64x" },
        { SIM_FIG_AMPLIFICATION, 9.999, "10x" },
        { SIM_FIG_P50, 0.0949, "94.9ms" },
        { SIM_FIG_P99, 0.9996, "1s" },
        { SIM_FIG_P99, 0, "0s" },
        { SIM_FIG_P999, 12.345, "12.3s" },
        { SIM_FIG_P50, 42e-6, "42us" },
        { SIM_FIG_RECOVER, 1800, "30m" },
        { SIM_FIG_RECOVER, INFINITY, "never" },
        { SIM_FIG_RECOVER, NAN, "-" },
        { SIM_FIG_DUPLICATES, 17, "17" },
        { SIM_FIG_DUPLICATES, 46512, "46.5k" },
    };
    char buffer[SIM_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(
            sim_figure_text(rows[i].figure, rows[i].x, buffer, sizeof buffer),
            rows[i].text);
}

static void interval_text_shows_half_its_width(void **state)
{
    static const struct {
        enum sim_figure figure;
        struct sim_interval i;
        const char *text;
    } rows[] = {
        { SIM_FIG_P99, { 0.412, 0.400, 0.424, 0, 0, 9, 0, 0 }, "412 +-12ms" },
        { SIM_FIG_P99, { 0.412, 0.412, 0.412, 0, 0, 1, 0, 0 }, "412ms" },
        { SIM_FIG_AMPLIFICATION,
          { 1.82, 1.819, 1.821, 0, 0, 9, 0, 0 },
          "1.82 +-0.001x" },
        { SIM_FIG_AMPLIFICATION,
          { 1.82, 1.8199, 1.8201, 0, 0, 9, 0, 0 },
          "1.82x" },
        { SIM_FIG_GOODPUT,
          { 71.7, 71.7 - 1e-13, 71.7 + 1e-13, 0, 0, 9, 0, 0 },
          "71.7/s" },
        { SIM_FIG_GOODPUT,
          { 27600, 27500, 27700, 0, 0, 9, 0, 0 },
          "27.6 +-0.1k/s" },
        { SIM_FIG_RECOVER, { 4.1, 4, 4.2, 0, 0, 7, 3, 0 }, "4.1s, 3 never" },
        { SIM_FIG_RECOVER, { NAN, NAN, NAN, 0, 0, 0, 3, 0 }, "never" },
        { SIM_FIG_RECOVER, { NAN, NAN, NAN, 0, 0, 0, 0, 0 }, "-" },
        { SIM_FIG_STUCK,
          { 0.3, 0.108, 0.603, 0, 1, 10, 0, 0 },
          "3/10 (11..60%)" },
        { SIM_FIG_RECOVER, { NAN, NAN, NAN, 0, 0, 0, 0, 3 }, "overloaded" },
        { SIM_FIG_RECOVER,
          { 4.1, 4, 4.2, 0, 0, 7, 1, 2 },
          "4.1s, 1 never, 2 overloaded" },
        { SIM_FIG_RECOVER,
          { NAN, NAN, NAN, 0, 0, 0, 1, 2 },
          "never, 2 overloaded" },
        { SIM_FIG_SUCCESS,
          { 0.989, 0.984, 0.9925, 0, 0, 10, 0, 0 },
          "98.9% (98.4..99.2)" },
    };
    char buffer[SIM_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(sim_interval_text(rows[i].figure, &rows[i].i, false,
                                              buffer, sizeof buffer),
                            rows[i].text);
}

static void figure_names_are_found(void **state)
{
    (void)state;
    for (int f = 0; f < SIM_FIGURES; f++) {
        const char *name = sim_figure_name((enum sim_figure)f);
        assert_int_equal(sim_figure_find(name, strlen(name)), f);
    }
    assert_int_equal(sim_figure_find("p", 1), SIM_FIGURES);
    assert_int_equal(sim_figure_find("", 0), SIM_FIGURES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interval_is_students),
        cmocka_unit_test(interval_of_many_is_students),
        cmocka_unit_test(regress_interval_stays_within_bounds),
        cmocka_unit_test(interval_of_one_has_no_width),
        cmocka_unit_test(interval_counts_the_infinite),
        cmocka_unit_test(interval_of_nothing_is_nan),
        cmocka_unit_test(interval_of_stuck_is_wilsons),
        cmocka_unit_test(figure_text_has_three_digits_and_a_unit),
        cmocka_unit_test(interval_text_shows_half_its_width),
        cmocka_unit_test(figure_names_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
