/* Numbers, ticks, text and paths of the report, row by row. The page as a whole
 * is looked at by page.py. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/report/heat.h"
#include "sim/report/plot/scale.h"
#include "sim/report/text.h"

static void number_rows(void **state)
{
    static const struct {
        enum page_unit unit;
        double x;
        const char *want;
    } rows[] = {
        { PAGE_RATE, 0, "0/s" },
        { PAGE_RATE, 280, "280/s" },
        { PAGE_RATE, 9999, "9999/s" },
        { PAGE_RATE, 12345, "12.3 k/s" },
        { PAGE_COUNT, 1234567, "1.23 M" },
        { PAGE_COUNT, 0.0123, "0.0123" },
        { PAGE_SECONDS, 0, "0 s" },
        { PAGE_SECONDS, 0.000412, "412 µs" },
        { PAGE_SECONDS, 0.4121, "412 ms" },
        { PAGE_SECONDS, 0.9999, "1 s" },
        { PAGE_SECONDS, 59.96, "60 s" },
        { PAGE_SECONDS, 1200, "20 min" },
        { PAGE_SHARE, 1, "100 %" },
        { PAGE_SHARE, 0.99999, "99.99 %" }, /* nearly all is not all */
        { PAGE_SHARE, 0.5, "50 %" },
        { PAGE_TIMES, 1.111, "1.11×" },
        { PAGE_TIMES, 243, "243×" },
        { PAGE_SECONDS, INFINITY, "never" },
        { PAGE_SECONDS, NAN, "–" },
    };
    char text[PAGE_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(page_number(text, rows[i].unit, rows[i].x),
                            rows[i].want);
}

static void interval_rows(void **state)
{
    static const struct {
        enum page_unit unit;
        struct sim_interval i;
        const char *want;
    } rows[] = {
        { PAGE_TIMES, { 1.912, 1.906, 1.918, 0, 0, 9, 0, 0 }, "1.91 ± 0.006×" },
        { PAGE_RATE, { 156, 145, 167, 0, 0, 9, 0, 0 }, "156 ± 11/s" },
        { PAGE_RATE, { 156, 156, 156, 0, 0, 1, 0, 0 }, "156/s" },
        { PAGE_SECONDS, { 0.489, 0.465, 0.513, 0, 0, 9, 0, 0 }, "489 ± 24 ms" },
        /* no more digits than are known */
        { PAGE_COUNT,
          { 0.066, -0.1173, 0.2493, 0, 0, 9, 0, 0 },
          "0.07 ± 0.18" },
        /* as far as it goes is not as far as it could */
        { PAGE_SHARE, { 1, 0.57, 1, 0, 0, 9, 0, 0 }, "100 % (57 to 100)" },
        { PAGE_SECONDS, { NAN, NAN, NAN, 0, 0, 0, 9, 0 }, "never" },
        { PAGE_SECONDS, { NAN, NAN, NAN, 0, 0, 0, 0, 9 }, "overloaded" },
        { PAGE_SECONDS, { NAN, NAN, NAN, 0, 0, 0, 0, 0 }, "–" },
    };
    char text[PAGE_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(page_plus_minus(text, rows[i].unit, &rows[i].i),
                            rows[i].want);
}

static void ticks_are_round(void **state)
{
    static const struct {
        struct page_scale scale;
        const char *want;
    } rows[] = {
        { { .to = 890, .unit = PAGE_RATE }, "0 200/s 400/s 600/s 800/s " },
        { { .to = 120e9, .time = true }, "0 30 s 60 s 90 s 120 s " },
        { { .to = 150e9, .time = true }, "0 0:30 1:00 1:30 2:00 2:30 " },
        { { .to = 360e9, .time = true }, "0 2:00 4:00 6:00 " },
        { { .from = 21e9, .to = 47e9, .time = true }, "30 s 40 s " },
        { { .from = 0.08, .to = 2.5, .log = true, .unit = PAGE_SECONDS },
          "100 ms 200 ms 500 ms 1 s 2 s " },
        { { .from = 0.001, .to = 50, .log = true, .unit = PAGE_SECONDS },
          "1 ms 10 ms 100 ms 1 s 10 s " },
        { { .to = 1, .unit = PAGE_SHARE }, "0 20 % 40 % 60 % 80 % 100 % " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double at[PAGE_TICKS];
        char text[PAGE_TEXT], all[400] = "";
        int n = page_ticks(&rows[i].scale, 5, at);

        for (int k = 0; k < n; k++) {
            strcat(all, page_tick(text, &rows[i].scale, at[k]));
            strcat(all, " ");
        }
        assert_string_equal(all, rows[i].want);
    }
}

/* Green is better, red is worse; one attempt per call is as good as it gets,
 * and values that hardly differ have hardly any colour. */
static void heat_rows(void **state)
{
    static const struct {
        enum sim_figure figure;
        double x, least, most; /* that is in the grid */
        const char *colour;
        int percent;
    } rows[] = {
        { SIM_FIG_SUCCESS, 1, 0.97, 1, "good", 100 },
        { SIM_FIG_SUCCESS, 0.97, 0.97, 1, "good", 88 },
        { SIM_FIG_SUCCESS, 0.2, 0.2, 1, "fail", 100 },
        { SIM_FIG_AMPLIFICATION, 0.5, 0.5, 1, "good", 100 },
        { SIM_FIG_AMPLIFICATION, 3, 1, 3, "fail", 100 },
        { SIM_FIG_P99, 0.1, 0.1, 0.5, "good", 100 },
        { SIM_FIG_P99, 1.01, 1, 1.01, "fail", 20 },
        { SIM_FIG_ATTEMPTS, 300, 100, 300, "offered", 100 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct sim_interval cells[] = {
            { .mean = rows[i].least, .n = 1 }, { .mean = rows[i].most, .n = 1 }
        };
        const struct sim_page_grid grid = {
            .figure = rows[i].figure, .x.n = 2, .y.n = 1, .cells = cells
        };
        const struct sim_page_context ctx = { .grids = &grid, .n_grids = 1 };
        struct page_heat heat = page_heat_of(
            rows[i].figure, rows[i].x, page_bounds_of(&ctx, rows[i].figure));

        assert_string_equal(heat.colour, rows[i].colour);
        assert_int_equal(heat.percent, rows[i].percent);
    }
}

/* ===== what is written ===== */

static char written[1000];

static const char *read_back(FILE *file)
{
    rewind(file);
    written[fread(written, 1, sizeof written - 1, file)] = '\0';
    fclose(file);
    return written;
}

static const char *escaped(const char *text)
{
    FILE *file = tmpfile();

    page_text(file, text);
    return read_back(file);
}

static void text_is_escaped(void **state)
{
    (void)state;
    assert_string_equal(escaped("<b a='1' c=\"2\">&"),
                        "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;");
    assert_string_equal(escaped("é → 日"), "é → 日");
    assert_string_equal(escaped("\x1b[1m"), "\xef\xbf\xbd[1m");
    assert_string_equal(escaped("a\xff\xc3"), "a\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(escaped("\xe2\x80\xae"),
                        "\xef\xbf\xbd"); /* turns text */
    assert_string_equal(escaped("\xef\xbf\xbf"),
                        "\xef\xbf\xbd"); /* not in XML */
    assert_string_equal(escaped("two\nlines"), "two lines");
    assert_string_equal(escaped(NULL), "");
}

static const char *line(double *y, uint32_t n, bool area)
{
    struct page_axes a = { { .to = n }, { .to = 6 } };
    struct page_curve c = { .y = y, .n = n, .step_ns = 1 };
    FILE *file = tmpfile();

    if (area)
        page_path_area(file, &a, &c, NULL);
    else
        page_path_line(file, &a, &c);
    return read_back(file);
}

static void path_leaves_out_what_lies_on_the_way(void **state)
{
    (void)state;
    assert_string_equal(line((double[]){ 3, 3, 3, 3 }, 4, false),
                        "M0 300l1500 0");
    assert_string_equal(line((double[]){ 0, 6 }, 2, false), "M0 600l1500-600");
    assert_string_equal(line((double[]){ 3, 3 }, 2, true),
                        "M0 300l1500 0L1500 600 0 600z");
}

static void path_has_gaps_and_stays_inside(void **state)
{
    (void)state;
    assert_string_equal(line((double[]){ 3, NAN, 3, 3 }, 4, false),
                        "M0 300l0 0M938 300l562 0");
    assert_string_equal(line((double[]){ -1e300, 1e300 }, 2, false),
                        "M0 600l1500-600");
    assert_string_equal(line((double[]){ NAN, NAN }, 2, false), "");
    assert_string_equal(line((double[]){ INFINITY, -INFINITY }, 2, false),
                        "M0 0l1500 600");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_rows),
        cmocka_unit_test(interval_rows),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(heat_rows),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(path_leaves_out_what_lies_on_the_way),
        cmocka_unit_test(path_has_gaps_and_stays_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
