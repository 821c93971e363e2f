/* test_rng.c: draws are repeatable, in range, and without bias. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/rng.h"
#include "sample.h"
#include "lib/ns.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A source that says the same again and again, and counts how often. */
struct stuck {
    uint64_t word;
    unsigned calls;
};

static uint64_t next_stuck(void *state)
{
    struct stuck *s = state;
    s->calls++;
    return s->word;
}

/* ===== seeded ===== */

static void rng_seeded_is_splitmix64(void **state)
{
    /* the published sequence of SplitMix64 from 1234567 */
    static const uint64_t expected[] = {
        UINT64_C(6457827717110365317),  UINT64_C(3203168211198807973),
        UINT64_C(9817491932198370423),  UINT64_C(4593380528125082431),
        UINT64_C(16408922859458223821),
    };
    bide_rng_seeded mine;
    bide_rng rng = bide_rng_seed(&mine, 0);

    (void)state;
    mine.counter = 1234567;
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_int_equal(rng.next(rng.state), expected[i]);
}

/* Simulations are compared across releases: these may never change. */
static void rng_seed_42_draws_stay(void **state)
{
    static const int64_t expected[] = { 149, 40, 41, 12, 246, 59, 70, 38 };
    bide_rng_seeded mine;
    bide_rng rng = bide_rng_seed(&mine, 42);

    (void)state;
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_int_equal(bide_rng_between(&rng, 0, 250), expected[i]);
}

static void rng_neighbouring_seeds_differ(void **state)
{
    enum { N = 20000 };
    static double x[N];

    (void)state;
    for (size_t i = 0; i < N; i++) {
        bide_rng_seeded mine;
        bide_rng rng = bide_rng_seed(&mine, i);
        x[i] = bide_rng_unit(&rng);
    }
    assert_true(sample_ks(x, N) < SAMPLE_KS_LIMIT);
    for (size_t i = 1; i < N; i++)
        assert_true(x[i] > x[i - 1]); /* sorted now: no two are the same */
}

static void rng_mix_is_injective_nearby(void **state)
{
    (void)state;
    assert_int_equal(bide__mix(0), 0);
    for (uint64_t i = 1; i < 100000; i++)
        assert_int_not_equal(bide__mix(i), bide__mix(i - 1));
}

/* ===== between ===== */

static void rng_between_empty_range_gives_lo(void **state)
{
    struct stuck s = { 7, 0 };
    bide_rng rng = { next_stuck, &s };

    (void)state;
    assert_int_equal(bide_rng_between(&rng, 5, 5), 5);
    assert_int_equal(bide_rng_between(&rng, 5, 4), 5);
    assert_int_equal(bide_rng_between(&rng, INT64_MAX, INT64_MIN), INT64_MAX);
    assert_int_equal(bide_rng_between(&rng, INT64_MIN, INT64_MIN), INT64_MIN);
    assert_int_equal(s.calls, 0);
}

static void rng_between_extreme_words_reach_both_ends(void **state)
{
    static const struct {
        int64_t lo, hi;
    } rows[] = {
        { 0, 1 },
        { 0, 250 },
        { -3, 3 },
        { 0, INT64_MAX },
        { INT64_MIN, INT64_MAX },
        { INT64_MIN, -1 },
        { INT64_MIN, 0 },
        { INT64_MAX - 1, INT64_MAX },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stuck s = { UINT64_MAX, 0 };
        bide_rng rng = { next_stuck, &s };
        bool whole = rows[i].lo == INT64_MIN && rows[i].hi == INT64_MAX;

        assert_int_equal(bide_rng_between(&rng, rows[i].lo, rows[i].hi),
                         whole ? INT64_MAX : rows[i].hi);
        s.word = 0;
        assert_int_equal(bide_rng_between(&rng, rows[i].lo, rows[i].hi),
                         rows[i].lo);
    }
}

static void rng_between_stuck_generator_returns(void **state)
{
    static const uint64_t words[] = {
        0, 1, 2, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(0xaaaaaaaaaaaaaaaa),
    };
    static const uint64_t sizes[] = {
        2,
        3,
        5,
        7,
        10,
        1000003,
        (UINT64_C(1) << 62) * 3,
        (UINT64_C(1) << 63) + 1,
        UINT64_MAX,
    };

    (void)state;
    for (size_t i = 0; i < COUNT(words); i++) {
        for (size_t j = 0; j < COUNT(sizes); j++) {
            struct stuck s = { words[i], 0 };
            bide_rng rng = { next_stuck, &s };
            int64_t hi = (int64_t)((uint64_t)INT64_MIN + sizes[j] - 1);
            int64_t draw = bide_rng_between(&rng, INT64_MIN, hi);

            assert_true(draw <= hi);
            assert_in_range(s.calls, 1, 65);
        }
    }
}

/* A remainder favours small numbers; a word that is scaled down favours some
 * numbers over their neighbours. So look at both: bins of equal width, and bins
 * that neighbours take turns in. */
enum binning { BY_WIDTH, BY_TURNS };

static double chi2_of(uint64_t n, uint64_t bins, enum binning how, size_t draws,
                      uint64_t (*draw)(const bide_rng *, uint64_t))
{
    uint64_t count[64] = { 0 };
    bide_rng_seeded mine;
    bide_rng rng = bide_rng_seed(&mine, n);

    for (size_t i = 0; i < draws; i++) {
        uint64_t x = draw(&rng, n);
        assert_true(x < n);
        count[how == BY_WIDTH ? x / (n / bins) : x % bins]++;
    }
    return sample_chi2(count, bins);
}

static uint64_t draw_between(const bide_rng *rng, uint64_t n)
{
    int64_t hi = (int64_t)((uint64_t)INT64_MIN + n - 1);
    return (uint64_t)bide_rng_between(rng, INT64_MIN, hi) - (uint64_t)INT64_MIN;
}

static uint64_t draw_modulo(const bide_rng *rng, uint64_t n)
{
    return rng->next(rng->state) % n;
}

/* The draw of rng.c without its rejection. */
static uint64_t draw_scaled(const bide_rng *rng, uint64_t n)
{
    return bide__mulhi(rng->next(rng->state), n);
}

/* Ranges whose size is far from dividing 2^64: a remainder draws some of their
 * numbers twice as often as others. */
static const struct {
    uint64_t n, bins;
} uneven[] = {
    { (UINT64_C(1) << 62) * 3, 3 },      { (UINT64_C(1) << 62) * 3, 48 },
    { (UINT64_C(1) << 61) * 5, 5 },      { (UINT64_C(1) << 61) * 7, 7 },
    { UINT64_C(0xaaaaaaaaaaaaaaaa), 2 },
};

static void rng_between_uneven_ranges_show_no_bias(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * COUNT(uneven); i++) {
        uint64_t bins = uneven[i / 2].bins;
        double chi2 =
            chi2_of(uneven[i / 2].n, bins, i % 2 ? BY_WIDTH : BY_TURNS,
                    sample_size(300000), draw_between);
        if (chi2 >= sample_chi2_limit(bins))
            fail_msg("row %zu: chi-square %g", i / 2, chi2);
    }
}

static void rng_between_small_ranges_show_no_bias(void **state)
{
    (void)state;
    for (uint64_t n = 2; n <= 64; n++) {
        double chi2 = chi2_of(n, n, BY_WIDTH, sample_size(50000), draw_between);
        if (chi2 >= sample_chi2_limit(n))
            fail_msg("[0, %d): chi-square %g", (int)n, chi2);
    }
}

/* The test above can fail: it sees what the usual mistakes do. */
static void rng_bias_of_simpler_draws_is_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(uneven); i++) {
        uint64_t n = uneven[i].n, bins = uneven[i].bins;
        double limit = sample_chi2_limit(bins);
        assert_true(chi2_of(n, bins, BY_WIDTH, 30000, draw_modulo) > limit);
        if (i !=
            COUNT(uneven) - 1) /* where it favours now even, now odd ones */
            assert_true(chi2_of(n, bins, BY_TURNS, 30000, draw_scaled) > limit);
    }
}

/* With the words of a counter over all 2^64 in 2^16 steps, each number of a
 * range must come up as often as any other, to within one. */
static uint64_t next_sweep(void *state)
{
    uint64_t *at = state;
    return (*at += UINT64_C(1) << 48);
}

static void rng_between_sweep_of_all_words_is_even(void **state)
{
    (void)state;
    for (int64_t n = 2; n < 40; n++) {
        uint64_t at = (UINT64_C(1) << 47), least = UINT64_MAX, most = 0;
        uint64_t count[40] = { 0 };
        bide_rng rng = { next_sweep, &at };

        for (int i = 0; i < 1 << 16; i++)
            count[bide_rng_between(&rng, 0, n - 1)]++;
        for (int64_t i = 0; i < n; i++) {
            least = count[i] < least ? count[i] : least;
            most = count[i] > most ? count[i] : most;
        }
        assert_true(most - least <= 1);
    }
}

/* ===== unit ===== */

static void rng_unit_extreme_words_stay_under_one(void **state)
{
    struct stuck s = { UINT64_MAX, 0 };
    bide_rng rng = { next_stuck, &s };

    (void)state;
    assert_true(bide_rng_unit(&rng) == 1 - 0x1p-53);
    s.word = 0;
    assert_true(bide_rng_unit(&rng) == 0);
    s.word = UINT64_C(1) << 11;
    assert_true(bide_rng_unit(&rng) == 0x1p-53);
}

static void rng_unit_sample_is_uniform(void **state)
{
    size_t n = sample_size(200000);
    double *x = malloc(n * sizeof *x);
    bide_rng_seeded mine;
    bide_rng rng = bide_rng_seed(&mine, 1);

    (void)state;
    for (size_t i = 0; i < n; i++)
        x[i] = bide_rng_unit(&rng);
    assert_true(sample_mean_fits(sample_mean(x, n), n, 0, 1));
    assert_true(sample_ks(x, n) < SAMPLE_KS_LIMIT);
    free(x);
}

/* ===== hash ===== */

/* Hash i with the counter in argument `which`, the others as a fleet has them.
 */
static uint64_t hash_at(int which, uint64_t i)
{
    uint64_t w[4] = { 1, 0, 0, 1 };
    w[which] = i;
    return bide_rng_hash(w[0], w[1], w[2], w[3]);
}

static double unit_of(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

static void rng_hash_successive_numbers_look_random(void **state)
{
    enum { N = 50000 };
    static double x[N], pair[N];

    (void)state;
    for (int which = 0; which < 4; which++) {
        double correlation = 0;
        for (size_t i = 0; i < N; i++) {
            x[i] = unit_of(hash_at(which, i));
            if (i > 0)
                correlation += (x[i] - 0.5) * (x[i - 1] - 0.5) * 12;
            /* (x, next x) as one number: uniform only if they are unrelated */
            pair[i] = fmod(x[i] + unit_of(hash_at(which, i + 1)), 1);
        }
        assert_true(fabs(correlation) < 4 * sqrt((double)N));
        assert_true(sample_ks(x, N) < SAMPLE_KS_LIMIT);
        assert_true(sample_ks(pair, N) < SAMPLE_KS_LIMIT);
    }
}

static void rng_hash_all_arguments_and_their_places_count(void **state)
{
    uint64_t h = bide_rng_hash(1, 2, 3, 4);

    (void)state;
    /* simulations are compared across releases: it may never change */
    assert_int_equal(h, UINT64_C(0x7790d7370d409cbe));
    assert_int_equal(bide_rng_hash(0, 0, 0, 0), UINT64_C(0xc213c59a64d9cf09));
    assert_int_not_equal(bide_rng_hash(2, 1, 3, 4), h);
    assert_int_not_equal(bide_rng_hash(1, 3, 2, 4), h);
    assert_int_not_equal(bide_rng_hash(1, 2, 4, 3), h);
    assert_int_not_equal(bide_rng_hash(4, 3, 2, 1), h);
    assert_int_not_equal(bide_rng_hash(0, 0, 0, 0), bide_rng_hash(0, 0, 0, 1));
}

static int ones(uint64_t x)
{
    int n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

/* One bit of input changes each bit of output with odds of a half. */
static void rng_hash_one_bit_changes_half_of_all(void **state)
{
    (void)state;
    for (int bit = 0; bit < 256; bit++) {
        int changed = 0;
        for (uint64_t i = 0; i < 200; i++) {
            uint64_t w[4] = { i, i * 3, i + 99, i };
            uint64_t h = bide_rng_hash(w[0], w[1], w[2], w[3]);
            w[bit / 64] ^= UINT64_C(1) << (bit % 64);
            changed += ones(h ^ bide_rng_hash(w[0], w[1], w[2], w[3]));
        }
        /* 12800 bits at odds of 1/2: mean 6400, sigma 57; 5 sigma over 256 */
        assert_in_range(changed, 6400 - 283, 6400 + 283);
    }
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void rng_hash_grid_of_small_numbers_never_collides(void **state)
{
    enum { SIDE = 16, N = SIDE * SIDE * SIDE * SIDE };
    static uint64_t seen[N];

    (void)state;
    for (uint64_t i = 0; i < N; i++)
        seen[i] = bide_rng_hash(i >> 12, i >> 8 & 15, i >> 4 & 15, i & 15);
    qsort(seen, N, sizeof *seen, compare_words);
    for (size_t i = 1; i < N; i++)
        assert_int_not_equal(seen[i], seen[i - 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rng_seeded_is_splitmix64),
        cmocka_unit_test(rng_seed_42_draws_stay),
        cmocka_unit_test(rng_neighbouring_seeds_differ),
        cmocka_unit_test(rng_mix_is_injective_nearby),
        cmocka_unit_test(rng_between_empty_range_gives_lo),
        cmocka_unit_test(rng_between_extreme_words_reach_both_ends),
        cmocka_unit_test(rng_between_stuck_generator_returns),
        cmocka_unit_test(rng_between_uneven_ranges_show_no_bias),
        cmocka_unit_test(rng_between_small_ranges_show_no_bias),
        cmocka_unit_test(rng_bias_of_simpler_draws_is_seen),
        cmocka_unit_test(rng_between_sweep_of_all_words_is_even),
        cmocka_unit_test(rng_unit_extreme_words_stay_under_one),
        cmocka_unit_test(rng_unit_sample_is_uniform),
        cmocka_unit_test(rng_hash_successive_numbers_look_random),
        cmocka_unit_test(rng_hash_all_arguments_and_their_places_count),
        cmocka_unit_test(rng_hash_one_bit_changes_half_of_all),
        cmocka_unit_test(rng_hash_grid_of_small_numbers_never_collides),
    };

    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
