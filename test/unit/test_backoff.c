/* test_backoff.c: the range of every jitter, at its edges. What the draws look
 * like within is in test_jitter.c, and what no configuration may do in
 * test_property.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "bide/backoff.h"
#include "bide/error.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MS           INT64_C(1000000)
#define MAX          INT64_MAX

/* The shape, and no list. */
#define GROWING BIDE_SHAPE_EXPONENTIAL, { 0, { 0 } }

enum { N_JITTERS = BIDE_JITTER_PROPORTIONAL + 1 };

static uint64_t next_same(void *state)
{
    return *(uint64_t *)state;
}

/* The waits that the smallest and the largest word make are the whole range. */
static void assert_range(const bide_backoff *b, uint32_t n, int64_t previous,
                         int64_t min, int64_t max, const char *what)
{
    uint64_t least = 0, most = UINT64_MAX;
    bide_rng low = { next_same, &least }, high = { next_same, &most };
    int64_t got_min = -2, got_max = -2;

    bide_backoff_range(b, n, previous, &got_min, &got_max);
    if (got_min != min || got_max != max)
        fail_msg("%s: [%lld, %lld], not [%lld, %lld]", what, (long long)got_min,
                 (long long)got_max, (long long)min, (long long)max);
    assert_int_equal(bide_backoff_wait(b, n, previous, &low), min);
    assert_int_equal(bide_backoff_wait(b, n, previous, &high), max);
}

static void backoff_init_is_what_the_header_says(void **state)
{
    bide_backoff b = BIDE_BACKOFF_INIT;

    (void)state;
    assert_int_equal(b.base_ns, 100 * MS);
    assert_int_equal(b.cap_ns, 30000 * MS);
    assert_int_equal(b.floor_ns, 0);
    assert_true(b.factor == 2);
    assert_true(b.spread == 0.2);
    assert_int_equal(b.jitter, BIDE_JITTER_FULL);
    assert_false(b.immediate_first);
    assert_int_equal(b.shape, BIDE_SHAPE_EXPONENTIAL);
    assert_int_equal(b.delays.n, 0);
}

static void backoff_value_doubles_up_to_the_cap(void **state)
{
    bide_backoff b = BIDE_BACKOFF_INIT;
    static const int64_t expected[] = { 100,  200,   400,   800,   1600, 3200,
                                        6400, 12800, 25600, 30000, 30000 };

    (void)state;
    for (uint32_t n = 0; n < COUNT(expected); n++)
        assert_int_equal(bide_backoff_value(&b, n), expected[n] * MS);
    assert_int_equal(bide_backoff_value(&b, 10000), 30000 * MS);
    assert_int_equal(bide_backoff_value(&b, INT32_MAX), 30000 * MS);
    assert_int_equal(bide_backoff_value(&b, UINT32_MAX), 30000 * MS);
}

/* n 1 of base 100, cap 1000: v = 200; at the cap n is huge: v = 1000. */
static void backoff_range_of_each_jitter(void **state)
{
    static const struct {
        bide_jitter jitter;
        uint32_t n;
        int64_t previous, floor, min, max;
    } rows[] = {
        { BIDE_JITTER_NONE, 1, 0, 0, 200, 200 },
        { BIDE_JITTER_NONE, 1, 0, 150, 200, 200 },
        { BIDE_JITTER_NONE, 1, 0, 700, 700, 700 },
        { BIDE_JITTER_NONE, UINT32_MAX, 0, 0, 1000, 1000 },

        { BIDE_JITTER_FULL, 0, 0, 0, 0, 100 },
        { BIDE_JITTER_FULL, 1, 0, 0, 0, 200 },
        { BIDE_JITTER_FULL, 1, 0, 150, 150, 200 },
        { BIDE_JITTER_FULL, 1, 0, 200, 200, 200 },
        { BIDE_JITTER_FULL, UINT32_MAX, 0, 0, 0, 1000 },
        { BIDE_JITTER_FULL, UINT32_MAX, 0, 999, 999, 1000 },
        { BIDE_JITTER_FULL, UINT32_MAX, 0, 1000, 1000, 1000 },

        { BIDE_JITTER_EQUAL, 0, 0, 0, 50, 100 },
        { BIDE_JITTER_EQUAL, 1, 0, 0, 100, 200 },
        { BIDE_JITTER_EQUAL, 1, 0, 60, 100, 200 },
        { BIDE_JITTER_EQUAL, 1, 0, 160, 160, 200 },
        { BIDE_JITTER_EQUAL, UINT32_MAX, 0, 0, 500, 1000 },

        { BIDE_JITTER_DECORRELATED, 0, 0, 0, 100, 300 },
        { BIDE_JITTER_DECORRELATED, 0, -1, 0, 100, 300 },
        { BIDE_JITTER_DECORRELATED, 0, INT64_MIN, 0, 100, 300 },
        { BIDE_JITTER_DECORRELATED, 7, 100, 0, 100, 300 },
        { BIDE_JITTER_DECORRELATED, 0, 50, 0, 100, 300 },
        { BIDE_JITTER_DECORRELATED, 0, 200, 0, 100, 600 },
        { BIDE_JITTER_DECORRELATED, 0, 333, 0, 100, 999 },
        { BIDE_JITTER_DECORRELATED, 0, 334, 0, 100, 1000 },
        { BIDE_JITTER_DECORRELATED, 0, 1000, 0, 100, 1000 },
        { BIDE_JITTER_DECORRELATED, 0, MAX, 0, 100, 1000 },
        { BIDE_JITTER_DECORRELATED, 0, 200, 400, 400, 600 },
        { BIDE_JITTER_DECORRELATED, 0, 200, 700, 700, 700 },

        { BIDE_JITTER_PROPORTIONAL, 0, 0, 0, 80, 120 },
        { BIDE_JITTER_PROPORTIONAL, 1, 0, 0, 160, 240 },
        { BIDE_JITTER_PROPORTIONAL, 1, 0, 190, 190, 240 },
        { BIDE_JITTER_PROPORTIONAL, 3, 0, 0, 640, 960 },
        { BIDE_JITTER_PROPORTIONAL, UINT32_MAX, 0, 0, 800, 1000 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char what[32];
        bide_backoff b = { 100, 1000,           rows[i].floor, 2,
                           0.2, rows[i].jitter, false,         GROWING };
        snprintf(what, sizeof what, "row %zu", i);
        assert_range(&b, rows[i].n, rows[i].previous, rows[i].min, rows[i].max,
                     what);
    }
}

/* aws-c-io waits 0 here. */
static void backoff_base_equal_to_cap_waits_it(void **state)
{
    static const int64_t min[N_JITTERS] = { 500, 0, 250, 500, 400 };

    (void)state;
    for (int j = 0; j < N_JITTERS; j++) {
        bide_backoff b = {
            500, 500, 0, 2, 0.2, (bide_jitter)j, false, GROWING
        };
        assert_range(&b, 0, 0, min[j], 500, bide_jitter_name(b.jitter));
        assert_range(&b, 5, 500, min[j], 500, bide_jitter_name(b.jitter));
        assert_range(&b, UINT32_MAX, MAX, min[j], 500,
                     bide_jitter_name(b.jitter));
    }
}

static void backoff_cap_zero_waits_nothing(void **state)
{
    (void)state;
    for (int j = 0; j < N_JITTERS; j++) {
        bide_backoff b = { 0, 0, 0, 2, 0.2, (bide_jitter)j, false, GROWING };
        assert_range(&b, 0, 0, 0, 0, bide_jitter_name(b.jitter));
        assert_range(&b, UINT32_MAX, MAX, 0, 0, bide_jitter_name(b.jitter));
        b.base_ns = 100; /* not a policy, but not a crash either */
        assert_range(&b, 3, 50, 0, 0, bide_jitter_name(b.jitter));
    }
}

static void backoff_base_zero_waits_only_what_decorrelates(void **state)
{
    (void)state;
    for (int j = 0; j < N_JITTERS; j++) {
        bide_backoff b = {
            0, 1000, 0, 2, 0.2, (bide_jitter)j, false, GROWING
        };
        assert_range(&b, 0, 0, 0, 0, bide_jitter_name(b.jitter));
        assert_range(&b, 50, 0, 0, 0, bide_jitter_name(b.jitter));
    }
}

static void backoff_longest_durations_do_not_wrap(void **state)
{
    static const double min[N_JITTERS] = { 1, 0, 0.5, 1, 0.8 };

    (void)state;
    for (int j = 0; j < N_JITTERS; j++) {
        bide_backoff b = { MAX, MAX, 0, 1000, 0.2, (bide_jitter)j, false,
                           GROWING };
        int64_t lo, hi;

        bide_backoff_range(&b, UINT32_MAX, MAX, &lo, &hi);
        assert_true(fabs((double)lo / 0x1p63 - min[j]) < 1e-15);
        assert_int_equal(hi, MAX);
        b.floor_ns = MAX;
        assert_range(&b, UINT32_MAX, MAX, MAX, MAX, "floor");
        b.base_ns = 1;
        b.floor_ns = 0;
        bide_backoff_range(&b, 0, MAX / 3 + 1, &lo, &hi);
        if (j == BIDE_JITTER_DECORRELATED)
            assert_int_equal(hi, MAX);
    }
}

/* A double cannot hold every whole number: multiplying by it must not end up
 * over the cap, be it by a nanosecond. */
static void regress_backoff_proportional_rounding_stays_under_cap(void **state)
{
    static const int64_t caps[] = {
        (INT64_C(1) << 53) + 3,
        (INT64_C(1) << 60) - 1,
        MAX - 1,
        MAX - 511,
        MAX - 513,
        MAX,
    };
    static const double spreads[] = { 0, 0x1p-60, 0.2, 1 };

    (void)state;
    for (size_t i = 0; i < COUNT(caps); i++) {
        for (size_t j = 0; j < COUNT(spreads); j++) {
            bide_backoff b = { caps[i], caps[i],    0,
                               2,       spreads[j], BIDE_JITTER_PROPORTIONAL,
                               false,   GROWING };
            int64_t lo, hi;
            bide_backoff_range(&b, 3, 0, &lo, &hi);
            assert_true(lo <= hi && hi <= caps[i]);
        }
    }
}

/* "any durations": a struct that no policy would be made of, but that a program
 * may pass in. Nothing is negative, nothing overflows. */
static void regress_backoff_negative_durations_wait_at_least_zero(void **state)
{
    static const int64_t durations[] = { INT64_MIN, -MAX, -1000, -1,
                                         0,         1000, MAX };
    uint64_t word = 0;
    bide_rng rng = { next_same, &word };

    (void)state;
    enum { D = COUNT(durations) };
    for (size_t i = 0; i < (size_t)D * D * D * D * N_JITTERS; i++) {
        bide_backoff b = { durations[i % D],
                           durations[i / D % D],
                           durations[i / D / D % D],
                           2,
                           0.2,
                           (bide_jitter)(i / D / D / D / D),
                           false,
                           GROWING };
        int64_t previous = durations[i / D / D / D % D];
        int64_t most = b.cap_ns > b.floor_ns ? b.cap_ns : b.floor_ns;
        int64_t lo, hi;

        bide_backoff_range(&b, 3, previous, &lo, &hi);
        if (lo < 0 || hi < lo || hi > (most > 0 ? most : 0))
            fail_msg("%s of base %lld, cap %lld, floor %lld: [%lld, %lld]",
                     bide_jitter_name(b.jitter), (long long)b.base_ns,
                     (long long)b.cap_ns, (long long)b.floor_ns, (long long)lo,
                     (long long)hi);
        assert_true(bide_backoff_wait(&b, 3, previous, &rng) >= 0);
    }
}

static void backoff_numbers_that_are_none_stay_in_range(void **state)
{
    static const double numbers[] = { NAN, INFINITY, -INFINITY, -1, 0, 1e308 };

    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        for (int j = 0; j < N_JITTERS; j++) {
            bide_backoff b = { 100,        1000,           0,     numbers[i],
                               numbers[i], (bide_jitter)j, false, GROWING };
            for (uint32_t n = 0; n < 70; n++) {
                int64_t lo, hi;
                bide_backoff_range(&b, n, 100, &lo, &hi);
                assert_true(lo >= 0 && lo <= hi && hi <= 1000);
            }
        }
    }
}

/* Jitter survives at the cap: the range there is no narrower than before it. */
static void backoff_at_the_cap_range_stays_wide(void **state)
{
    (void)state;
    for (int j = BIDE_JITTER_FULL; j < N_JITTERS; j++) {
        bide_backoff b = BIDE_BACKOFF_INIT;
        int64_t lo, hi;
        b.jitter = (bide_jitter)j;
        bide_backoff_range(&b, UINT32_MAX, b.cap_ns, &lo, &hi);
        assert_int_equal(hi, b.cap_ns);
        assert_true(hi - lo >= b.cap_ns / 5);
    }
}

/* ===== names ===== */

static void backoff_jitter_names_go_both_ways(void **state)
{
    static const char *const names[] = { "none", "full", "equal",
                                         "decorrelated", "proportional" };
    bide_jitter j = BIDE_JITTER_EQUAL;

    (void)state;
    for (unsigned i = 0; i < COUNT(names); i++) {
        assert_string_equal(bide_jitter_name((bide_jitter)i), names[i]);
        assert_int_equal(bide_jitter_by_name(names[i], &j), 0);
        assert_int_equal(j, i);
    }
}

static void backoff_jitter_unknown_is_refused(void **state)
{
    bide_jitter j = BIDE_JITTER_EQUAL;

    (void)state;
    assert_null(bide_jitter_name((bide_jitter)N_JITTERS));
    assert_null(bide_jitter_name((bide_jitter)-1));
    assert_int_equal(bide_jitter_by_name("", &j), BIDE_ENAME);
    assert_int_equal(bide_jitter_by_name("Full", &j), BIDE_ENAME);
    assert_int_equal(bide_jitter_by_name("full ", &j), BIDE_ENAME);
    assert_int_equal(bide_jitter_by_name("ful", &j), BIDE_ENAME);
    assert_int_equal(bide_jitter_by_name(NULL, &j), BIDE_EINVAL);
    assert_int_equal(bide_jitter_by_name("full", NULL), BIDE_EINVAL);
    assert_int_equal(j, BIDE_JITTER_EQUAL); /* untouched */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backoff_init_is_what_the_header_says),
        cmocka_unit_test(backoff_value_doubles_up_to_the_cap),
        cmocka_unit_test(backoff_range_of_each_jitter),
        cmocka_unit_test(backoff_base_equal_to_cap_waits_it),
        cmocka_unit_test(backoff_cap_zero_waits_nothing),
        cmocka_unit_test(backoff_base_zero_waits_only_what_decorrelates),
        cmocka_unit_test(backoff_longest_durations_do_not_wrap),
        cmocka_unit_test(regress_backoff_proportional_rounding_stays_under_cap),
        cmocka_unit_test(regress_backoff_negative_durations_wait_at_least_zero),
        cmocka_unit_test(backoff_numbers_that_are_none_stay_in_range),
        cmocka_unit_test(backoff_at_the_cap_range_stays_wide),
        cmocka_unit_test(backoff_jitter_names_go_both_ways),
        cmocka_unit_test(backoff_jitter_unknown_is_refused),
    };

    return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}
