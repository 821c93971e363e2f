/* test_latency.c: quantiles of recent latency, and that no sample is lost. */
#include <math.h>
#include <stdlib.h>

#include "fixture.h"
#include "lib/latency.h"

static const double quantiles[] = { 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999 };

static bide_dep *measuring(void)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.attempts = 1;
    return new_dep(&conf);
}

/* ===== buckets ===== */

static void latency_bucket_is_within_2_percent(void **state)
{
    unsigned before = 0;
    (void)state;
    for (double x = 16384; x < 68.7e9; x *= 1.0007) {
        int64_t ns = (int64_t)x;
        unsigned i = bide__fine_bucket(ns);
        assert_true(i >= before && i < BIDE__FINE);
        before = i;
        double middle = (double)bide__fine_middle(i);
        if (fabs(middle - (double)ns) > (double)ns / 120)
            fail_msg("%g ns counts as %g", x, middle);
    }
    assert_int_equal(before, BIDE__FINE - 1); /* all are used */
}

static void latency_short_ones_are_within_128_ns(void **state)
{
    (void)state;
    for (int64_t ns = 0; ns < 32768; ns++) {
        int64_t middle = bide__fine_middle(bide__fine_bucket(ns));
        assert_true(llabs(middle - ns) <= 128);
    }
}

static void latency_extreme_durations_have_a_bucket(void **state)
{
    static const int64_t longest[] = { 69 * S, 3600 * S, INT64_MAX - 1,
                                       INT64_MAX };
    (void)state;
    assert_int_equal(bide__fine_bucket(0), 0);
    for (size_t i = 0; i < COUNT(longest); i++)
        assert_int_equal(bide__fine_bucket(longest[i]), BIDE__FINE - 1);
    for (unsigned i = 1; i < BIDE__FINE; i++) {
        assert_true(bide__fine_middle(i) > bide__fine_middle(i - 1));
        assert_int_equal(bide__fine_bucket(bide__fine_middle(i)), i);
    }
}

/* ===== quantiles ===== */

static double uniform(const bide_rng *rng)
{
    return 1e6 + bide_rng_unit(rng) * 999e6;
}

static double exponential(const bide_rng *rng)
{
    return -log(1 - bide_rng_unit(rng)) * 50e6;
}

static double lognormal(const bide_rng *rng)
{
    double u = 1 - bide_rng_unit(rng), v = bide_rng_unit(rng);
    return 20e6 * exp(sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v));
}

static double pareto(const bide_rng *rng)
{
    return 1e6 * pow(1 - bide_rng_unit(rng), -1 / 1.5);
}

static double bimodal(const bide_rng *rng)
{
    double mode = bide_rng_unit(rng) < 0.97 ? 10e6 : 2e9;
    return mode * (0.9 + 0.2 * bide_rng_unit(rng));
}

static double constant(const bide_rng *rng)
{
    (void)rng;
    return 123456789;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void latency_quantiles_are_within_2_percent(void **state)
{
    static double (*const shapes[])(const bide_rng *) = {
        uniform, exponential, lognormal, pareto, bimodal, constant
    };
    enum { N = 20000 };
    static int64_t samples[N];
    (void)state;
    for (size_t s = 0; s < COUNT(shapes); s++) {
        bide_dep *dep = measuring();
        bide_rng_seeded seeded;
        bide_rng rng = bide_rng_seed(&seeded, s + 1);
        for (int i = 0; i < N; i++) {
            samples[i] = (int64_t)shapes[s](&rng);
            bide__record_first(dep, &dep->lanes[i % 4], samples[i],
                               5 * S + i * MS);
        }
        qsort(samples, N, sizeof samples[0], ascending);
        for (size_t q = 0; q < COUNT(quantiles); q++) {
            double exact = (double)samples[(int)ceil(quantiles[q] * N) - 1];
            double is =
                (double)bide_dep_latency(dep, quantiles[q], 5 * S + N * MS);
            if (fabs(is - exact) > 0.02 * exact + 64)
                fail_msg("shape %zu at %g: %g, not %g", s, quantiles[q], is,
                         exact);
        }
        bide_dep_free(dep);
    }
}

static void latency_quantile_of_few_samples(void **state)
{
    static const struct {
        double q;
        double ms;
    } rows[] = { { 0, 10 },     { 0.1, 10 },  { 0.25, 10 }, { 0.26, 20 },
                 { 0.5, 20 },   { 0.51, 30 }, { 0.75, 30 }, { 0.76, 40 },
                 { 0.999, 40 }, { 1, 40 } };
    bide_dep *dep = measuring();
    (void)state;
    for (int i = 1; i <= 4; i++)
        one_call(dep, BIDE_SUCCESS, 0, 10 * i * MS);
    for (size_t i = 0; i < COUNT(rows); i++) {
        double is = (double)bide_dep_latency(dep, rows[i].q, S) / 1e6;
        assert_true(fabs(is - rows[i].ms) < 0.02 * rows[i].ms);
    }
    bide_dep_free(dep);
}

static void latency_of_nothing_is_minus_1(void **state)
{
    bide_dep *dep = measuring();
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    (void)state;
    assert_int_equal(bide_dep_latency(dep, 0.5, 0), -1);
    one_call(dep, BIDE_TRANSIENT, 0, S); /* only successes are measured */
    assert_int_equal(bide_dep_latency(dep, 0.5, S), -1);
    one_call(dep, BIDE_SUCCESS, 0, S);
    assert_true(bide_dep_latency(dep, 0.5, S) > 0);
    assert_int_equal(bide_dep_latency(NULL, 0.5, S), -1);
    assert_int_equal(bide_dep_latency(dep, -0.1, S), -1);
    assert_int_equal(bide_dep_latency(dep, 1.1, S), -1);
    assert_int_equal(bide_dep_latency(dep, (double)NAN, S), -1);
    bide_dep_free(dep);

    conf.latency.measure = false;
    dep = new_dep(&conf);
    one_call(dep, BIDE_SUCCESS, 0, S);
    assert_int_equal(bide_dep_latency(dep, 0.5, S), -1);
    bide_dep_free(dep);
}

static void latency_of_0_and_of_forever_is_counted(void **state)
{
    bide_dep *dep = measuring();
    (void)state;
    one_call(dep, BIDE_SUCCESS, INT64_MAX, INT64_MAX);
    assert_in_range(bide_dep_latency(dep, 1, INT64_MAX), 0, 256);
    one_call(dep, BIDE_SUCCESS, 0, INT64_MAX);
    assert_in_range(bide_dep_latency(dep, 1, INT64_MAX), 65 * S, 70 * S);
    assert_int_equal(stats_of(dep, INT64_MAX).attempt_time.count, 2);
    bide_dep_free(dep);
}

/* ===== the window ===== */

static uint64_t samples_at(const bide_dep *dep, int64_t now)
{
    uint64_t n;
    bide__latency_quantile(dep->latency, &dep->policy, 0.5, 0, now, &n);
    return n;
}

/* Two slices of 15 s: a sample is in for 15 to 30 s. */
static void latency_old_samples_slide_out(void **state)
{
    bide_dep *dep = measuring();
    (void)state;
    one_call(dep, BIDE_SUCCESS, 0, 0);
    one_call(dep, BIDE_SUCCESS, 9 * S, 9 * S);
    one_call(dep, BIDE_SUCCESS, 10 * S, 10 * S);
    one_call(dep, BIDE_SUCCESS, 25 * S, 25 * S);
    static const struct {
        int64_t time;
        uint64_t samples;
    } rows[] = { { 0, 3 },  { 14, 3 }, { 15, 4 }, { 29, 4 },
                 { 30, 1 }, { 44, 1 }, { 45, 0 }, { 5000, 0 } };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(samples_at(dep, rows[i].time * S), rows[i].samples);
    one_call(dep, BIDE_SUCCESS, 30 * S,
             30 * S); /* takes the first slice over */
    assert_int_equal(samples_at(dep, 30 * S), 2);
    assert_int_equal(stats_of(dep, 30 * S).attempt_time.count, 5);
    bide_dep_free(dep);
}

/* The quantile follows what the dependency does now. */
static void latency_quantile_follows(void **state)
{
    bide_dep *dep = measuring();
    (void)state;
    for (int64_t t = 0; t < 60 * S; t += 10 * MS)
        one_call(dep, BIDE_SUCCESS, t, t + (t < 30 * S ? 5 : 500) * MS);
    int64_t p50 = bide_dep_latency(dep, 0.5, 60 * S);
    assert_in_range(p50, 490 * MS, 510 * MS);
    bide_dep_free(dep);
}

static void latency_no_sample_is_lost(void **state)
{
    enum { N = 100000 };
    bide_dep *dep = measuring();
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, 8);
    int64_t now = 0;
    uint64_t sum = 0;
    (void)state;
    for (int i = 0; i < N; i++) {
        int64_t took = bide_rng_between(&rng, 0, S);
        now += bide_rng_between(&rng, 0, i % 1000 ? 10 * MS : 60 * S);
        if (i % 7 == 0)
            now -= bide_rng_between(&rng, 0, now < 20 * S ? now : 20 * S);
        bide__record_first(dep, &dep->lanes[i % 4], took, now);
        sum += (uint64_t)took;
    }
    bide_stats s = stats_of(dep, now);
    assert_int_equal(s.attempt_time.count, N);
    assert_true(fabs((double)s.attempt_time.sum_ns - (double)sum) <
                0.001 * (double)sum);
    bide_dep_free(dep);
}

/* A thread that is behind records in the slice that the others use. */
static void latency_clock_stepping_back_loses_nothing(void **state)
{
    bide_dep *dep = measuring();
    (void)state;
    one_call(dep, BIDE_SUCCESS, 100 * S, 100 * S);
    one_call(dep, BIDE_SUCCESS, 70 * S, 70 * S); /* the same slice, before */
    assert_int_equal(samples_at(dep, 100 * S), 2);
    struct bide__slice *slice =
        &dep->latency[bide__dep_lane(dep) - dep->lanes].slice[100 / 15 % 2];
    bide__latency_turn(slice, 5, &dep->counters.first_time); /* too late */
    assert_int_equal(stats_of(dep, 0).attempt_time.count, 2);
    bide_dep_free(dep);
}

/* ===== hedges ===== */

/* The first attempt is slow and a hedge wins. That the first took at least so
 * long is kept for the quantile; the statistics are of successes only. */
static void latency_overtaken_attempt_is_measured(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.attempts = 1;
    conf.hedge.max = 1;
    conf.hedge.after_ns = 100 * MS;
    conf.hedge.extra_load = 1;
    bide_dep *dep = new_dep(&conf);
    bide_call call;
    bide_outcome good = BIDE_OUTCOME_SUCCESS;
    (void)state;
    for (int i = 1; i <= 3; i++) {
        int64_t t = i * 20 * S; /* rotates, too */
        start(&call, dep, t);
        assert_int_equal(bide_call_next(&call, t + 100 * MS).action, BIDE_TRY);
        assert_int_equal(bide_call_report(&call, 2, &good, t + 150 * MS), 0);
        bide_call_end(&call, t + 150 * MS);
        int64_t p = bide_dep_latency(dep, 0.5, t + S);
        assert_in_range(p, 147 * MS, 153 * MS);
        bide_stats s = stats_of(dep, t);
        assert_int_equal(s.attempt_time.count, i);
        assert_in_range(s.attempt_time.sum_ns, i * 49 * MS, i * 51 * MS);
        assert_int_equal(s.call_time.count, i);
        assert_int_equal(s.hedges_won, i);
    }
    /* an overtaken one that is cancelled with its call says nothing */
    start(&call, dep, 200 * S);
    bide_call_next(&call, 200 * S + 100 * MS);
    bide_call_end(&call, 210 * S);
    assert_int_equal(samples_at(dep, 210 * S), 0);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_bucket_is_within_2_percent),
        cmocka_unit_test(latency_short_ones_are_within_128_ns),
        cmocka_unit_test(latency_extreme_durations_have_a_bucket),
        cmocka_unit_test(latency_quantiles_are_within_2_percent),
        cmocka_unit_test(latency_quantile_of_few_samples),
        cmocka_unit_test(latency_of_nothing_is_minus_1),
        cmocka_unit_test(latency_of_0_and_of_forever_is_counted),
        cmocka_unit_test(latency_old_samples_slide_out),
        cmocka_unit_test(latency_quantile_follows),
        cmocka_unit_test(latency_no_sample_is_lost),
        cmocka_unit_test(latency_clock_stepping_back_loses_nothing),
        cmocka_unit_test(latency_overtaken_attempt_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
