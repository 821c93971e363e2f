/* test_histogram.c: the coarse histograms of the statistics. */
#include <math.h>

#include "fixture.h"
#include "lib/histogram.h"

static void histogram_buckets_are_4_to_a_doubling(void **state)
{
    static const struct {
        unsigned i;
        int64_t ns;
    } rows[] = {
        { 0, 0 },
        { 1, 1250 },
        { 2, 1500 },
        { 3, 1750 },
        { 4, 2000 },
        { 5, 2500 },
        { 8, 4000 },
        { 40, 1024000 },
        { 127, INT64_C(3758096384000) },
        { 128, INT64_C(4294967296000) },
        { 129, INT64_C(4294967296000) },
        { UINT32_MAX, INT64_C(4294967296000) },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_true(bide_bucket_ns(rows[i].i) == rows[i].ns);
    for (unsigned i = 0; i < BIDE_N_BUCKETS; i++)
        assert_true(bide_bucket_ns(i) < bide_bucket_ns(i + 1));
}

static unsigned only_bucket(const bide_histogram *h)
{
    unsigned i = 0;
    while (h->bucket[i] == 0)
        i++;
    return i;
}

/* Both ways in agree, and put each duration between the ends of its bucket. */
static void histogram_duration_is_in_its_bucket(void **state)
{
    (void)state;
    for (double x = 1; x < 5e12; x *= 1.003) {
        for (int64_t ns = (int64_t)x - 1; ns <= (int64_t)x; ns++) {
            struct bide__histogram shared = { 0 };
            bide_histogram mine = { 0 }, read = { 0 };
            bide__histogram_count(&mine, ns, 3);
            bide__histogram_add(&shared, ns, 3);
            bide__histogram_read(&shared, &read);
            assert_memory_equal(&mine, &read, sizeof mine);
            assert_int_equal(mine.count, 3);
            assert_true(mine.sum_ns == 3 * (uint64_t)ns);
            unsigned i = only_bucket(&mine);
            assert_int_equal(mine.bucket[i], 3);
            assert_true(ns >= bide_bucket_ns(i));
            assert_true(i == BIDE_N_BUCKETS - 1 || ns < bide_bucket_ns(i + 1));
        }
    }
    for (unsigned i = 0; i < BIDE_N_BUCKETS; i++) {
        bide_histogram h = { 0 };
        bide__histogram_count(&h, bide_bucket_ns(i), 1);
        assert_int_equal(only_bucket(&h), i);
    }
}

static void histogram_extremes_saturate(void **state)
{
    struct bide__histogram shared = { 0 };
    bide_histogram h = { 0 };
    (void)state;
    bide__histogram_add(&shared, 0, 5);
    bide__histogram_add(&shared, INT64_MAX, 1);
    bide__histogram_add(&shared, INT64_MAX, 1);
    bide__histogram_read(&shared, &h);
    assert_int_equal(h.bucket[0], 5);
    assert_int_equal(h.bucket[BIDE_N_BUCKETS - 1], 2);
    assert_true(h.sum_ns == UINT64_MAX - 1);
    bide__histogram_add(&shared, INT64_MAX, 1);
    bide__histogram_add(&shared, INT64_MAX, UINT64_C(1) << 40);
    bide__histogram_read(&shared, &h);
    assert_true(h.sum_ns == UINT64_MAX);
    assert_int_equal(h.count, 7 + 8 + (UINT64_C(1) << 40));
    bide__histogram_count(&h, INT64_MAX, UINT64_C(1) << 40);
    assert_true(h.sum_ns == UINT64_MAX);
}

static void histogram_read_adds_up(void **state)
{
    struct bide__histogram a = { 0 }, b = { 0 };
    bide_histogram h = { 0 };
    (void)state;
    bide__histogram_add(&a, 2 * MS, 4);
    bide__histogram_add(&b, 2 * MS, 1);
    bide__histogram_add(&b, 7 * MS, 2);
    bide__histogram_read(&a, &h);
    bide__histogram_read(&b, &h);
    assert_int_equal(h.count, 7);
    assert_int_equal(h.sum_ns, 24 * MS);
}

static void histogram_quantile_is_in_its_bucket(void **state)
{
    static const struct {
        double q;
        int64_t ms;
    } rows[] = { { 0, 1 },    { 0.1, 1 },    { 0.5, 1 }, { 0.51, 10 },
                 { 0.9, 10 }, { 0.91, 100 }, { 1, 100 } };
    bide_histogram h = { 0 };
    (void)state;
    bide__histogram_count(&h, MS, 50);
    bide__histogram_count(&h, 10 * MS, 40);
    bide__histogram_count(&h, 100 * MS, 10);
    for (size_t i = 0; i < COUNT(rows); i++) {
        double is = (double)bide_histogram_quantile(&h, rows[i].q) / 1e6;
        assert_true(fabs(is / (double)rows[i].ms - 1) < 0.126);
    }
}

static void histogram_quantile_of_nothing_is_minus_1(void **state)
{
    bide_histogram h = { 0 };
    (void)state;
    assert_int_equal(bide_histogram_quantile(&h, 0.5), -1);
    assert_int_equal(bide_histogram_quantile(NULL, 0.5), -1);
    bide__histogram_count(&h, INT64_MAX, 1);
    assert_int_equal(bide_histogram_quantile(&h, -0.1), -1);
    assert_int_equal(bide_histogram_quantile(&h, 1.01), -1);
    assert_int_equal(bide_histogram_quantile(&h, (double)NAN), -1);
    assert_true(bide_histogram_quantile(&h, 1) > 3600 * S);
}

/* Against exact quantiles: a bucket is at most a quarter wide. */
static void histogram_quantiles_are_within_an_eighth(void **state)
{
    enum { N = 10000 };
    bide_histogram h = { 0 };
    (void)state;
    for (int i = 1; i <= N; i++)
        bide__histogram_count(&h, i * 100 * INT64_C(1000), 1);
    for (double q = 0.05; q < 1; q += 0.05) {
        double exact = ceil(q * N - 1e-9) * 1e5;
        double is = (double)bide_histogram_quantile(&h, q);
        assert_true(fabs(is - exact) <= exact / 8 + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histogram_buckets_are_4_to_a_doubling),
        cmocka_unit_test(histogram_duration_is_in_its_bucket),
        cmocka_unit_test(histogram_extremes_saturate),
        cmocka_unit_test(histogram_read_adds_up),
        cmocka_unit_test(histogram_quantile_is_in_its_bucket),
        cmocka_unit_test(histogram_quantile_of_nothing_is_minus_1),
        cmocka_unit_test(histogram_quantiles_are_within_an_eighth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
