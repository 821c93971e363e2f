/* Whether a client keeps up a rate: rows of what happens at which second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/exchange/pace.h"

enum { BEGIN = 1000 }; /* the clock is never at 0 */

struct row {
    int64_t at_s;
    enum { RUN, STOP, BYTES } what;
    uint64_t n;
    int64_t due_s; /* seconds since BEGIN; -1: it is not waited for */
};

static void follow(uint32_t rate, int64_t grace_s, const struct row *rows,
                   size_t n)
{
    struct pace p;
    pace_begin(&p, grace_s * BIDE_SECOND);
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        int64_t now = (BEGIN + r->at_s) * BIDE_SECOND;
        if (r->what == RUN)
            pace_run(&p, now);
        else if (r->what == STOP)
            pace_stop(&p, now);
        else
            pace_add(&p, r->n, now, rate, grace_s * BIDE_SECOND);
        assert_int_equal(pace_runs(&p), r->due_s >= 0);
        if (r->due_s >= 0)
            assert_int_equal(pace_due(&p), (BEGIN + r->due_s) * BIDE_SECOND);
    }
}

#define FOLLOW(rate, grace, rows)                                              \
    follow(rate, grace, rows, sizeof(rows) / sizeof(rows)[0])

static void pace_below_the_rate_uses_the_grace_up(void **unused)
{
    static const struct row rows[] = {
        { 0, RUN, 0, 30 },      { 1, BYTES, 100, 31 },  { 11, BYTES, 100, 32 },
        { 21, BYTES, 100, 33 }, { 31, BYTES, 100, 34 }, { 33, BYTES, 0, 34 },
    };
    (void)unused;
    FOLLOW(100, 30, rows);
}

static void pace_above_the_rate_goes_on_for_ever(void **unused)
{
    static const struct row rows[] = {
        { 0, RUN, 0, 30 },
        { 20, BYTES, 2000, 50 },
        { 40, BYTES, 2000, 70 },
        { 1000, BYTES, 0, 70 },
    };
    (void)unused;
    FOLLOW(100, 30, rows);
}

static void pace_of_the_past_is_no_credit(void **unused)
{
    static const struct row rows[] = {
        { 0, RUN, 0, 30 },
        { 1, BYTES, UINT64_MAX, 31 },
        { 2, BYTES, 100000000, 32 },
        { 3, BYTES, 1, 33 },
    };
    (void)unused;
    follow(100, 30, rows, 3);
    follow(1, 30, rows, 4); /* a byte is worth a second */
}

static void pace_counts_only_while_it_is_waited_for(void **unused)
{
    static const struct row rows[] = {
        { 0, RUN, 0, 30 },       { 10, STOP, 0, -1 },  { 50, STOP, 0, -1 },
        { 100, RUN, 0, 120 },    { 105, RUN, 0, 120 }, { 110, STOP, 0, -1 },
        { 110, BYTES, 500, -1 }, { 200, RUN, 0, 215 },
    };
    (void)unused;
    FOLLOW(100, 30, rows);
}

static void pace_without_a_rate_is_about_silence(void **unused)
{
    static const struct row rows[] = {
        { 0, RUN, 0, 30 },
        { 29, BYTES, 1, 59 },
        { 58, BYTES, 1, 88 },
        { 80, BYTES, 0, 88 },
    };
    (void)unused;
    FOLLOW(0, 30, rows);
}

static void pace_without_an_end_saturates(void **unused)
{
    struct pace p;
    (void)unused;
    pace_begin(&p, BIDE_FOREVER);
    pace_run(&p, 5);
    assert_int_equal(pace_due(&p), BIDE_FOREVER);
    pace_add(&p, UINT64_MAX, 7, 1, BIDE_FOREVER);
    assert_true(pace_due(&p) > BIDE_FOREVER / 2);
    pace_add(&p, 1, 9, 0, BIDE_FOREVER);
    assert_int_equal(pace_due(&p), BIDE_FOREVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pace_below_the_rate_uses_the_grace_up),
        cmocka_unit_test(pace_above_the_rate_goes_on_for_ever),
        cmocka_unit_test(pace_of_the_past_is_no_credit),
        cmocka_unit_test(pace_counts_only_while_it_is_waited_for),
        cmocka_unit_test(pace_without_a_rate_is_about_silence),
        cmocka_unit_test(pace_without_an_end_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
