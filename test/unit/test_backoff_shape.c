/* test_backoff_shape.c: linear waits, and waits from a list. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bide/bide.h"
#include "lib/wait/backoff.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MS           BIDE_MILLISECOND
#define MAX          INT64_MAX

enum { N_JITTERS = BIDE_JITTER_PROPORTIONAL + 1 };

static bide_backoff linear(int64_t base, int64_t cap)
{
    bide_backoff b = BIDE_BACKOFF_INIT;
    b.shape = BIDE_SHAPE_LINEAR;
    b.base_ns = base;
    b.cap_ns = cap;
    return b;
}

static void backoff_linear_grows_by_its_base(void **state)
{
    static const struct {
        int64_t base, cap;
        uint32_t n;
        int64_t value;
    } rows[] = {
        { 100, 1000, 0, 100 },
        { 100, 1000, 1, 200 },
        { 100, 1000, 8, 900 },
        { 100, 1000, 9, 1000 },
        { 100, 1000, 10, 1000 },
        { 100, 1000, UINT32_MAX, 1000 },
        { 1, MAX, UINT32_MAX, INT64_C(4294967296) },
        { INT64_C(2147483647), MAX, UINT32_MAX, INT64_C(9223372032559808512) },
        { INT64_C(2147483648), MAX, UINT32_MAX, MAX }, /* 2^63 */
        { MAX, MAX, 0, MAX },
        { MAX, MAX, 1, MAX },
        { MAX / 2 + 1, MAX, 1, MAX },
        { MAX / 2, MAX, 1, MAX - 1 },
        { 0, 1000, UINT32_MAX, 0 },
        { 0, 0, 3, 0 },
        { -1, 1000, 3, 0 },
        { INT64_MIN, 1000, UINT32_MAX, 0 },
        { 100, -1, 3, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_backoff b = linear(rows[i].base, rows[i].cap);
        if (bide_backoff_value(&b, rows[i].n) != rows[i].value)
            fail_msg("row %zu: %lld", i,
                     (long long)bide_backoff_value(&b, rows[i].n));
    }
}

static void backoff_linear_does_not_look_at_the_factor(void **state)
{
    static const double factors[] = { NAN, INFINITY, -1, 0, 1, 1000 };

    (void)state;
    for (size_t i = 0; i < COUNT(factors); i++) {
        bide_backoff b = linear(100, 1000);
        b.factor = factors[i];
        assert_int_equal(bide_backoff_value(&b, 3), 400);
    }
}

/* The last delay is for all further retries; the cap is not looked at. */
static void backoff_list_is_followed_and_its_last_repeats(void **state)
{
    bide_backoff b = BIDE_BACKOFF_INIT;

    (void)state;
    b.delays = (bide_delays){ 3, { 1000 * MS, 0, 60000 * MS } };
    assert_int_equal(bide_backoff_value(&b, 0), 1000 * MS);
    assert_int_equal(bide_backoff_value(&b, 1), 0);
    assert_int_equal(bide_backoff_value(&b, 2), 60000 * MS);
    assert_int_equal(bide_backoff_value(&b, 3), 60000 * MS);
    assert_int_equal(bide_backoff_value(&b, UINT32_MAX), 60000 * MS);
    b.shape = BIDE_SHAPE_LINEAR;
    assert_int_equal(bide_backoff_value(&b, 0), 1000 * MS);
}

static void backoff_list_is_jittered(void **state)
{
    static const struct {
        bide_jitter jitter;
        uint32_t n;
        int64_t floor, min, max;
    } rows[] = {
        { BIDE_JITTER_NONE, 0, 0, 100, 100 },
        { BIDE_JITTER_NONE, 9, 0, 1000, 1000 },
        { BIDE_JITTER_NONE, 0, 300, 300, 300 },
        { BIDE_JITTER_FULL, 0, 0, 0, 100 },
        { BIDE_JITTER_FULL, 1, 300, 300, 1000 },
        { BIDE_JITTER_EQUAL, 0, 0, 50, 100 },
        { BIDE_JITTER_PROPORTIONAL, 0, 0, 80, 120 },
        { BIDE_JITTER_PROPORTIONAL, 1, 0, 800, 1000 }, /* not over the longest */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_backoff b = BIDE_BACKOFF_INIT;
        int64_t lo, hi;
        b.cap_ns = 1; /* of no effect */
        b.jitter = rows[i].jitter;
        b.floor_ns = rows[i].floor;
        b.delays = (bide_delays){ 2, { 100, 1000 } };
        bide_backoff_range(&b, rows[i].n, 0, &lo, &hi);
        if (lo != rows[i].min || hi != rows[i].max)
            fail_msg("row %zu: [%lld, %lld]", i, (long long)lo, (long long)hi);
    }
}

/* Structs that no policy would be made of. */
static void backoff_list_of_nonsense_stays_in_range(void **state)
{
    static const int64_t delays[] = { INT64_MIN, -1, 0, 1, MAX };
    static const uint32_t counts[] = { 1, BIDE_MAX_DELAYS, BIDE_MAX_DELAYS + 1,
                                       UINT32_MAX };

    (void)state;
    for (size_t i = 0; i < COUNT(delays) * COUNT(counts) * N_JITTERS; i++) {
        bide_backoff b = BIDE_BACKOFF_INIT;
        int64_t delay = delays[i % COUNT(delays)], lo, hi;
        b.delays.n = counts[i / COUNT(delays) % COUNT(counts)];
        b.jitter = (bide_jitter)(i / COUNT(delays) / COUNT(counts));
        for (int k = 0; k < BIDE_MAX_DELAYS; k++)
            b.delays.ns[k] = delay;
        bide_backoff_range(&b, UINT32_MAX, MAX, &lo, &hi);
        assert_true(lo >= 0 && lo <= hi);
        if (b.jitter != BIDE_JITTER_DECORRELATED)
            assert_true(hi <= (delay > 0 ? delay : 0));
    }
}

static void backoff_value_of_a_program_is_bounded(void **state)
{
    static const struct {
        int64_t v, expected;
    } rows[] = { { INT64_MIN, 0 }, { -1, 0 },      { 0, 0 },
                 { 999, 999 },     { 1000, 1000 }, { 1001, 1000 },
                 { MAX, 1000 } };
    bide_backoff b = linear(1, 1000);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(bide__backoff_most(&b, rows[i].v), rows[i].expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backoff_linear_grows_by_its_base),
        cmocka_unit_test(backoff_linear_does_not_look_at_the_factor),
        cmocka_unit_test(backoff_list_is_followed_and_its_last_repeats),
        cmocka_unit_test(backoff_list_is_jittered),
        cmocka_unit_test(backoff_list_of_nonsense_stays_in_range),
        cmocka_unit_test(backoff_value_of_a_program_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
