/* test_assert.c: what assertions mean, and what is said of bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "sim/study/assert.h"

/* Two variants: one that fares well, and one that never recovers. */
static const char *const names[] = { "good", "not so good" };
static struct sim_interval figures[2 * SIM_FIGURES];

static void set(uint32_t variant, enum sim_figure f, double x)
{
    figures[variant * SIM_FIGURES + f] = sim_interval_of(f, &x, 1);
}

static int set_up(void **state)
{
    (void)state;
    for (uint32_t v = 0; v < 2; v++)
        for (int f = 0; f < SIM_FIGURES; f++)
            set(v, (enum sim_figure)f, NAN);
    set(0, SIM_FIG_AMPLIFICATION, 1.1);
    set(1, SIM_FIG_AMPLIFICATION, 3);
    set(0, SIM_FIG_RECOVER, 2);
    set(1, SIM_FIG_RECOVER, INFINITY);
    set(0, SIM_FIG_SUCCESS, 0.99);
    set(1, SIM_FIG_SUCCESS, 0.2);
    set(0, SIM_FIG_P99, 0.25);
    set(0, SIM_FIG_GOODPUT, 280);
    set(0, SIM_FIG_DUPLICATES, 0);
    return 0;
}

static struct sim_assert *parsed(const char *text)
{
    struct sim_assert *a = NULL;
    struct sim_fuss fuss;

    if (sim_assert_parse(&a, text, &fuss) < 0)
        fail_msg("%s: %s", text, fuss.message);
    if (sim_assert_bind(a, names, 2, &fuss) < 0)
        fail_msg("%s: %s", text, fuss.message);
    return a;
}

static void assert_judges(void **state)
{
    static const struct {
        const char *text;
        enum sim_verdict good, bad;
    } rows[] = {
        { "amplification < 1.2", SIM_HOLDS, SIM_FAILS },
        { "amplification<1.2x", SIM_HOLDS, SIM_FAILS },
        { "1.2 > amplification", SIM_HOLDS, SIM_FAILS },
        { "amplification <= 1.1", SIM_HOLDS, SIM_FAILS },
        { "amplification >= 3", SIM_FAILS, SIM_HOLDS },
        { "amplification == 3", SIM_FAILS, SIM_HOLDS },
        { "amplification != 3", SIM_HOLDS, SIM_FAILS },
        { "recover < 5s", SIM_HOLDS, SIM_FAILS },
        { "recover < 1s500ms", SIM_FAILS, SIM_FAILS },
        { "recover == never", SIM_FAILS, SIM_HOLDS },
        { "recover != never", SIM_HOLDS, SIM_FAILS },
        { "success > 50%", SIM_HOLDS, SIM_FAILS },
        { "success > 0.5", SIM_HOLDS, SIM_FAILS },
        { "goodput > 100/s", SIM_HOLDS, SIM_UNKNOWN },
        { "goodput > 100", SIM_HOLDS, SIM_UNKNOWN },
        { "p99 < 300ms", SIM_HOLDS, SIM_UNKNOWN },
        { "!(p99 < 300ms)", SIM_FAILS, SIM_UNKNOWN },
        { "duplicates == 0", SIM_HOLDS, SIM_UNKNOWN },
        { "amplification < 1.2 && recover < 5s", SIM_HOLDS, SIM_FAILS },
        { "amplification < 1 || recover < 5s", SIM_HOLDS, SIM_FAILS },
        { "p99 < 1s || amplification == 3", SIM_HOLDS, SIM_HOLDS },
        { "p99 < 1s && amplification == 3", SIM_FAILS, SIM_UNKNOWN },
        { "p99 < 1s && amplification == 4", SIM_FAILS, SIM_FAILS },
        /* && binds closer than || */
        { "success > 50% || success < 1% && recover == never", SIM_HOLDS,
          SIM_FAILS },
        { "(success > 50% || success < 1%) && recover == never", SIM_FAILS,
          SIM_FAILS },
        { "!!(recover == never)", SIM_FAILS, SIM_HOLDS },
        { "! recover == never", SIM_HOLDS, SIM_FAILS },
        { "good.amplification < 1.2", SIM_HOLDS, SIM_HOLDS },
        { "'not so good'.amplification > 2", SIM_HOLDS, SIM_HOLDS },
        { "\"not so good\" . amplification > good.amplification", SIM_HOLDS,
          SIM_HOLDS },
        { "amplification <= good.amplification", SIM_HOLDS, SIM_FAILS },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sim_assert *a = parsed(rows[i].text);
        enum sim_verdict good = sim_assert_judge(a, figures, 0);
        enum sim_verdict bad = sim_assert_judge(a, figures, 1);
        if (good != rows[i].good || bad != rows[i].bad)
            fail_msg("%s: %d and %d", rows[i].text, good, bad);
        sim_assert_free(a);
    }
}

static void assert_tells_what_it_is_about(void **state)
{
    struct sim_assert *a =
        parsed("recover < 5s && (recover > 1s || good.p99 < 1s)");
    enum sim_figure f;
    uint32_t v;

    (void)state;
    assert_false(sim_assert_named(a));
    assert_true(sim_assert_figure(a, 0, 1, &v, &f));
    assert_true(v == 1 && f == SIM_FIG_RECOVER);
    assert_true(sim_assert_figure(a, 1, 1, &v, &f));
    assert_true(v == 0 && f == SIM_FIG_P99);
    assert_false(sim_assert_figure(a, 2, 1, &v, &f));
    sim_assert_free(a);
    a = parsed("good.p99 < 1s");
    assert_true(sim_assert_named(a));
    sim_assert_free(a);
}

static void assert_mistakes_have_a_place(void **state)
{
    static const struct {
        const char *text;
        size_t at, len;
        const char *part;
    } rows[] = {
        { "", 0, 0, "found the end, expected a figure" },
        { "amplificaton < 1", 0, 12, "unknown figure `amplificaton`" },
        { "p99 <", 5, 0, "found the end, expected a figure" },
        { "p99 < 3", 6, 1, "found `3` for p99, expected a duration" },
        { "p99 = 3s", 4, 1, "found `=`, expected <, <=" },
        { "success > 50", 10, 2, "expected a share" },
        { "goodput > 5s", 10, 2, "expected a rate" },
        { "amplification < 5s", 16, 2, "expected a number" },
        { "p99 < success", 6, 7, "in the unit of p99" },
        { "1 < 2", 0, 5, "found two numbers" },
        { "(p99 < 1s", 9, 0, "found the end, expected `)`" },
        { "p99 < 1s)", 8, 1, "found `)`, expected &&" },
        { "p99 < 1s && ", 12, 0, "found the end" },
        { "p99 < 1s p50 < 1s", 9, 3, "found `p50`, expected &&" },
        { "'good.p99 < 1s", 0, 14, "no end of the name" },
        { "'good' p99 < 1s", 7, 3, "expected `.`" },
        { "good.p98 < 1s", 5, 3, "unknown figure `p98`" },
        { "recover < 1.2.3s", 10, 6, "found `1.2.3s`" },
        { "\xff\xfe", 0, 1, "expected a figure" },
    };
    struct sim_assert *a = NULL;
    struct sim_fuss fuss;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(sim_assert_parse(&a, rows[i].text, &fuss), -1);
        assert_null(a);
        if (fuss.at != rows[i].at || fuss.len != rows[i].len ||
            !strstr(fuss.message, rows[i].part))
            fail_msg("%s: %s, at %zu, %zu long", rows[i].text, fuss.message,
                     fuss.at, fuss.len);
    }
}

static void assert_unknown_variant_is_told(void **state)
{
    struct sim_assert *a = NULL;
    struct sim_fuss fuss;

    (void)state;
    assert_int_equal(sim_assert_parse(&a, "p99 < 1s && bad.p50 < 1s", &fuss),
                     0);
    assert_int_equal(sim_assert_bind(a, names, 2, &fuss), -1);
    assert_int_equal(fuss.at, 12);
    assert_non_null(strstr(fuss.message, "no variant `bad`"));
    sim_assert_free(a);
}

/* Neither too deep for the stack nor read beyond its end. */
static void assert_hostile_text_is_refused(void **state)
{
    char text[5001];
    struct sim_assert *a = NULL;
    struct sim_fuss fuss;

    (void)state;
    for (const char *c = "(!'\"9.%a"; *c; c++) {
        memset(text, *c, 5000);
        text[5000] = '\0';
        assert_int_equal(sim_assert_parse(&a, text, &fuss), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assert_judges),
        cmocka_unit_test(assert_tells_what_it_is_about),
        cmocka_unit_test(assert_mistakes_have_a_place),
        cmocka_unit_test(assert_unknown_variant_is_told),
        cmocka_unit_test(assert_hostile_text_is_refused),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
