/* test_ns.c: durations saturate, growth is exact, ticks are not late. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/ns.h"

/* The same header once more, as a compiler without 128-bit integers reads it.
 */
#undef BIDE_LIB_NS_H
#undef __SIZEOF_INT128__
#define bide__add_ns     narrow_add_ns
#define bide__elapsed_ns narrow_elapsed_ns
#define bide__clock      narrow_clock
#define bide__scale_ns   narrow_scale_ns
#define bide__grow_ns    narrow_grow_ns
#define bide__ticker     narrow_ticker
#define bide__tick       narrow_tick
#define bide__mulhi      narrow_mulhi
#include "lib/ns.h"
#undef bide__add_ns
#undef bide__elapsed_ns
#undef bide__clock
#undef bide__scale_ns
#undef bide__grow_ns
#undef bide__ticker
#undef bide__tick
#undef bide__mulhi

#include "lib/rng.h"
#include "sample.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MAX          INT64_MAX

static uint64_t draw(uint64_t i)
{
    return bide_rng_hash(7, 7, 7, i);
}

/* A number of any size: as many bits as chance will have it. */
static int64_t any_ns(uint64_t i)
{
    return (int64_t)(draw(2 * i) >> (1 + draw(2 * i + 1) % 63));
}

/* ===== sums ===== */

static void time_add_too_large_saturates(void **state)
{
    (void)state;
    assert_int_equal(bide__add_ns(0, 0), 0);
    assert_int_equal(bide__add_ns(2, 3), 5);
    assert_int_equal(bide__add_ns(MAX, 0), MAX);
    assert_int_equal(bide__add_ns(0, MAX), MAX);
    assert_int_equal(bide__add_ns(MAX - 1, 1), MAX);
    assert_int_equal(bide__add_ns(MAX - 1, 2), MAX);
    assert_int_equal(bide__add_ns(MAX, MAX), MAX);
}

static void time_elapsed_clock_steps_back_gives_zero(void **state)
{
    (void)state;
    assert_int_equal(bide__elapsed_ns(5, 9), 4);
    assert_int_equal(bide__elapsed_ns(5, 5), 0);
    assert_int_equal(bide__elapsed_ns(9, 5), 0);
    assert_int_equal(bide__elapsed_ns(0, MAX), MAX);
    assert_int_equal(bide__elapsed_ns(MAX, 0), 0);
}

static void time_clock_before_zero_is_zero(void **state)
{
    (void)state;
    assert_int_equal(bide__clock(-1), 0);
    assert_int_equal(bide__clock(INT64_MIN), 0);
    assert_int_equal(bide__clock(0), 0);
    assert_int_equal(bide__clock(MAX), MAX);
}

/* ===== scaling ===== */

static void time_scale_any_ratio_stays_in_range(void **state)
{
    static const struct {
        int64_t ns;
        double ratio;
        int64_t expected;
    } rows[] = {
        { 1000, 0.25, 250 },
        { 1000, 1, 1000 },
        { 1000, 0, 0 },
        { 1000, -0.0, 0 },
        { 1000, -1, 0 },
        { 1000, NAN, 0 },
        { 1000, -INFINITY, 0 },
        { 1000, INFINITY, MAX },
        { 0, INFINITY, 0 }, /* not a number */
        { 0, 1e300, 0 },
        { 1, 1e300, MAX },
        { MAX, 1, MAX },
        { MAX, 2, MAX },
        { MAX, 0.5, INT64_C(1) << 62 },
        { 1, 9223372036854774784.0, INT64_C(9223372036854774784) },
        { 1, 9223372036854775808.0, MAX },
        { -5, 2, 0 },
        { INT64_MIN, 1, 0 },
        { 3, 0.5, 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (bide__scale_ns(rows[i].ns, rows[i].ratio) != rows[i].expected)
            fail_msg("row %zu", i);
}

/* ===== growth ===== */

static void time_grow_edges(void **state)
{
    static const struct {
        int64_t base;
        double factor;
        uint32_t n;
        int64_t cap, expected;
    } rows[] = {
        { 100, 2, 0, 1000, 100 },
        { 100, 2, 3, 1000, 800 },
        { 100, 2, 4, 1000, 1000 },
        { 100, 2, UINT32_MAX, 1000, 1000 },
        { 100, 1, UINT32_MAX, 1000, 100 },
        { 100, 1.5, 1, 1000, 150 },
        { 3, 1.5, 1, 1000, 4 }, /* 4.5: down */
        { 1, 2, 62, MAX, INT64_C(1) << 62 },
        { 1, 2, 63, MAX, MAX },
        { 1, 2, 64, MAX, MAX },
        { 1, 1000, UINT32_MAX, MAX, MAX },
        { 1, 1000, 7, MAX, MAX },
        { 1, 1000, 6, MAX, INT64_C(1000000000000000000) },
        { 0, 2, UINT32_MAX, 1000, 0 },
        { 0, 1000, UINT32_MAX, MAX, 0 }, /* 0 * infinity */
        { 100, 2, 9, 0, 0 },
        { 0, 2, 0, 0, 0 },
        { -100, 2, 9, 1000, 0 },
        { 100, 2, 9, -1, 0 },
        { INT64_MIN, 2, 9, INT64_MIN, 0 },
        { 1000, 2, 0, 1000, 1000 },
        { 1000, 2, 5, 1000, 1000 },
        { 2000, 2, 0, 1000, 1000 }, /* base over cap: cap */
        { MAX, 2, 0, MAX, MAX },
        { MAX, 1000, UINT32_MAX, MAX, MAX },
        { MAX - 1, 1, UINT32_MAX, MAX, MAX - 1 },
        { MAX - 1, 2, 0, MAX, MAX - 1 },
        { MAX - 1, 2, 1, MAX, MAX },
        { 100, NAN, 5, 1000, 100 },
        { 100, 0.5, 5, 1000, 100 },
        { 100, -2, 5, 1000, 100 },
        { 100, INFINITY, 5, 1000, 1000 },
        { 100, INFINITY, 4, 1000, 1000 },
        { 100, INFINITY, 0, 1000, 100 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t got =
            bide__grow_ns(rows[i].base, rows[i].factor, rows[i].n, rows[i].cap);
        if (got != rows[i].expected)
            fail_msg("row %zu: %lld", i, (long long)got);
    }
}

static void time_grow_whole_factors_match_integers(void **state)
{
    (void)state;
    for (uint64_t factor = 2; factor <= 1000; factor++) {
        uint64_t exact = 1;
        for (uint32_t n = 0; exact < UINT64_C(1) << 53; n++) {
            assert_int_equal(bide__grow_ns(1, (double)factor, n, MAX), exact);
            exact *= factor;
        }
    }
}

/* Whole numbers of any length, to multiply and compare without rounding: limbs
 * of 32 bits, the least first. */
enum { LIMBS = 64 };

struct big {
    uint32_t limb[LIMBS];
};

static struct big big_of(uint64_t x)
{
    struct big b = { { (uint32_t)x, (uint32_t)(x >> 32) } };
    return b;
}

static struct big big_times(const struct big *a, uint64_t x)
{
    struct big r = { { 0 } };
    for (int half = 0; half < 2; half++) {
        uint64_t digit = half ? x >> 32 : x & 0xffffffff, carry = 0;
        for (int i = 0; i + half < LIMBS; i++) {
            uint64_t sum = r.limb[i + half] + digit * a->limb[i] + carry;
            r.limb[i + half] = (uint32_t)sum;
            carry = sum >> 32;
        }
        assert_int_equal(carry, 0);
    }
    return r;
}

/* a / 2^shift, rounded down; INT64_MAX if that does not fit. */
static int64_t big_shifted(const struct big *a, int shift)
{
    uint64_t result = 0;
    for (int bit = LIMBS * 32 - 1; bit >= shift; bit--) {
        if (result >> 62)
            return MAX;
        result = result << 1 | (a->limb[bit / 32] >> (bit % 32) & 1);
    }
    return (int64_t)result;
}

/* base * factor^n to the nanosecond: a double is m * 2^e, m whole. */
static int64_t grow_exactly(int64_t base, double factor, uint32_t n)
{
    int e;
    uint64_t m = (uint64_t)ldexp(frexp(factor, &e), 53);
    int shift = 53 - e;
    for (; (m & 1) == 0; m >>= 1)
        shift--;
    struct big b = big_of((uint64_t)base);
    for (uint32_t i = 0; i < n; i++)
        b = big_times(&b, m);
    if (shift >= 0)
        return big_shifted(&b, shift * (int)n);
    for (uint32_t i = 0; i < n; i++)
        b = big_times(&b, UINT64_C(1) << -shift);
    return big_shifted(&b, 0);
}

/* Each multiplication rounds once, by at most 2^-53; base and cap round too. */
static void assert_close(int64_t got, int64_t exact, uint32_t n)
{
    double off = fabs((double)got - (double)exact);
    double allowed = 1 + (double)exact * ((double)n + 3) * 0x1p-53;
    if (!(off <= allowed))
        fail_msg("%lld, exactly %lld, n %u", (long long)got, (long long)exact,
                 n);
}

static void time_grow_any_factor_matches_big_integers(void **state)
{
    size_t rounds = sample_size(20000);

    (void)state;
    for (uint64_t i = 0; i < rounds; i++) {
        int64_t base = 1 + any_ns(3 * i);
        double factor = 1 + ldexp((double)(draw(5 * i) >> 11),
                                  -53 - (int)(draw(5 * i + 1) % 20));
        uint32_t n = (uint32_t)(draw(5 * i + 2) % 35);
        if (i % 3 == 0)
            factor = floor(factor * 900) / 100;
        if (factor < 1)
            factor = 1;
        int64_t exact = grow_exactly(base, factor, n);
        int64_t got = bide__grow_ns(base, factor, n, MAX);
        assert_close(got, exact, n);

        int64_t cap = 1 + any_ns(3 * i + 1);
        int64_t capped = bide__grow_ns(base, factor, n, cap);
        assert_close(capped, exact < cap ? exact : cap, n);
        assert_true(capped <= cap);
    }
}

/* For numbers of retries that big integers do not reach: by logarithms. */
static void time_grow_huge_n_matches_logarithms(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        uint32_t n = (uint32_t)draw(3 * i) >> draw(3 * i + 1) % 24;
        /* so that factor^n comes to somewhere up to e^25 */
        double rate = ldexp((double)(draw(3 * i + 2) >> 11), -53) * 25;
        double factor = 1 + rate / ((double)n + 1);
        long double exact = expl((long double)n * log1pl(factor - 1.0L)) * 1e6L;
        int64_t got = bide__grow_ns(1000000, factor, n, MAX);
        long double off = fabsl((long double)got - exact);
        /* 1000: under valgrind a long double is a double, and the logarithm
         * times n loses a few digits */
        assert_true(off <= 1 + exact * ((long double)n + 1000) * 0x1p-53L);
    }
}

/* v(n) never falls, for as long as anybody could wait and far longer. Only
 * where a single step is smaller than the rounding of n steps (a factor under 1
 * + n * 2^-53) can the last digits of neighbours change places. */
static void time_grow_more_retries_never_shorter(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 300; i++) {
        double factor = 1 + ldexp(1, -(int)(draw(i) % 30)) *
                                ldexp((double)(draw(i + 1000) >> 11), -53);
        int64_t base = 1 + any_ns(i) / 1000;
        int64_t cap = 1 + any_ns(i + 500);
        int64_t before = 0;
        for (uint32_t n = 0; n < 10000; n++) {
            int64_t v = bide__grow_ns(base, factor, n, cap);
            assert_true(v >= before && v <= cap);
            before = v;
        }
    }
}

/* ===== ticks ===== */

static void time_mulhi_portable_equals_wide(void **state)
{
    static const uint64_t edges[] = {
        0,
        1,
        2,
        0xffffffff,
        UINT64_C(0x100000000),
        UINT64_C(0x100000001),
        UINT64_MAX / 3,
        UINT64_MAX - 1,
        UINT64_MAX,
        UINT64_C(1) << 63,
        UINT64_C(0xffffffff00000000),
        UINT64_C(0xfffffffeffffffff),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(edges); i++)
        for (size_t j = 0; j < COUNT(edges); j++)
            assert_int_equal(narrow_mulhi(edges[i], edges[j]),
                             bide__mulhi(edges[i], edges[j]));
    for (uint64_t i = 0; i < 300000; i++) {
        uint64_t a = draw(2 * i), b = draw(2 * i + 1);
        if (narrow_mulhi(a, b) != bide__mulhi(a, b))
            fail_msg("%llx * %llx", (unsigned long long)a,
                     (unsigned long long)b);
    }
    assert_int_equal(bide__mulhi(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    assert_int_equal(bide__mulhi(UINT64_C(1) << 63, 6), 3);
}

/* A tick begins at a multiple of the length, or early by at most length / 2^64
 * of the time since zero; and never late. */
static void assert_tick_fits(int64_t length, int64_t now)
{
    uint64_t exact = (uint64_t)now / (uint64_t)length;
    uint64_t tick = bide__tick(bide__ticker(length), now);
    uint64_t early = narrow_mulhi((uint64_t)now, (uint64_t)length) + 1;
    uint64_t latest = ((uint64_t)now + early) / (uint64_t)length;
    if (tick < exact || tick > latest)
        fail_msg("tick %llu of %lld at %lld, exactly %llu",
                 (unsigned long long)tick, (long long)length, (long long)now,
                 (unsigned long long)exact);
}

static void time_tick_at_multiples_is_exact(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        int64_t length = 2 + any_ns(2 * i) % (3600 * INT64_C(1000000000));
        int64_t k = any_ns(2 * i + 1) % (MAX / length);
        struct bide__ticker t = bide__ticker(length);

        assert_int_equal(bide__tick(t, k * length), k);
        assert_tick_fits(length, k * length + length - 1);
        assert_tick_fits(length, k * length + length / 2);
        if (k > 0)
            assert_tick_fits(length, k * length - 1);
    }
}

static void time_tick_extremes_fit(void **state)
{
    static const int64_t lengths[] = {
        2,
        3,
        4,
        7,
        6250000,
        625000000,
        INT64_C(225000000000),
        INT64_C(1200000000000),
        INT64_C(1) << 40,
        MAX / 2,
        MAX,
    };

    (void)state;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        assert_int_equal(bide__tick(bide__ticker(lengths[i]), 0), 0);
        assert_tick_fits(lengths[i], 1);
        assert_tick_fits(lengths[i], MAX - 1);
        assert_tick_fits(lengths[i], MAX);
    }
}

static void time_tick_later_never_smaller(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        struct bide__ticker t = bide__ticker(2 + any_ns(i) / 2);
        int64_t now = any_ns(i + 200000);
        int64_t step = any_ns(i + 400000);
        assert_true(bide__tick(t, bide__add_ns(now, step)) >=
                    bide__tick(t, now));
    }
}

/* Lengths that make no sense still give a ticker that works. */
static void time_ticker_tiny_length_is_two(void **state)
{
    (void)state;
    for (int64_t length = -3; length <= 2; length++)
        assert_int_equal(bide__tick(bide__ticker(length), 1001), 500);
    assert_int_equal(bide__tick(bide__ticker(INT64_MIN), MAX), MAX / 2);
    assert_int_equal(bide__tick(bide__ticker(3), 1001), 333);
}

/* A process that has been up for ten years, and windows as they are used: the
 * tick is early by no more than a few per cent of itself. */
static void time_tick_after_ten_years_shifts_little(void **state)
{
    const int64_t ten_years = INT64_C(3653) * 86400 * 1000000000;
    static const int64_t lengths[] = {
        6250000,
        625000000,
        INT64_C(10000000000),
        INT64_C(225000000000),
        INT64_C(1200000000000),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        int64_t k = ten_years / lengths[i] * lengths[i];
        struct bide__ticker t = bide__ticker(lengths[i]);
        uint64_t tick = bide__tick(t, k);
        assert_int_equal(bide__tick(t, k - lengths[i] / 50 - 1), tick - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_add_too_large_saturates),
        cmocka_unit_test(time_elapsed_clock_steps_back_gives_zero),
        cmocka_unit_test(time_clock_before_zero_is_zero),
        cmocka_unit_test(time_scale_any_ratio_stays_in_range),
        cmocka_unit_test(time_grow_edges),
        cmocka_unit_test(time_grow_whole_factors_match_integers),
        cmocka_unit_test(time_grow_any_factor_matches_big_integers),
        cmocka_unit_test(time_grow_huge_n_matches_logarithms),
        cmocka_unit_test(time_grow_more_retries_never_shorter),
        cmocka_unit_test(time_mulhi_portable_equals_wide),
        cmocka_unit_test(time_tick_at_multiples_is_exact),
        cmocka_unit_test(time_tick_extremes_fit),
        cmocka_unit_test(time_tick_later_never_smaller),
        cmocka_unit_test(time_ticker_tiny_length_is_two),
        cmocka_unit_test(time_tick_after_ten_years_shifts_little),
    };

    return cmocka_run_group_tests_name("time", tests, NULL, NULL);
}
