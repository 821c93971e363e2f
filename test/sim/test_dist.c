/* test_dist.c: numbers that agree with libm, and draws of the right shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/model/dist.h"
#include "sim/model/luck.h"
#include "sim/model/number.h"
#include "sample.h"

static void close_to(double found, double expected, double relative)
{
    double off = fabs(found - expected);
    if (!(off <= relative * fabs(expected) || off < 1e-300))
        fail_msg("%.17g is not %.17g", found, expected);
}

/* ===== numbers ===== */

static void number_log_agrees_with_libm(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        double u = sim_luck_unit(sim_luck_word(1, i, 0, 0));
        double x = ldexp(u, (int)(i % 200) - 100);
        close_to(sim_log(x), log(x), 4e-16 + 2e-16 / fabs(log(x)));
    }
    close_to(sim_log(2), log(2), 1e-15);
    assert_true(sim_log(1) == 0);
}

static void number_exp_agrees_with_libm(void **state)
{
    (void)state;
    for (int i = -6990; i < 6990; i++)
        close_to(sim_exp(i / 10.0), exp(i / 10.0), 2e-15);
    assert_true(sim_exp(0) == 1);
    assert_true(sim_exp(-1e9) == 0);
    assert_true(sim_exp(1e9) < INFINITY);
}

static void number_normal_quantile_inverts_erfc(void **state)
{
    (void)state;
    for (int i = 1; i < 10000; i++) {
        double p = i / 10000.0, x = sim_normal_quantile(p);
        close_to(erfc(-x / sqrt(2)) / 2, p, 3e-8); /* 2e-9 of x */
    }
    close_to(sim_normal_quantile(1e-12), -7.034483825301132, 1e-8);
}

/* These are in every simulation ever made: they may never change. */
static void dist_draws_stay(void **state)
{
    const struct {
        struct sim_dist dist;
        int64_t ns[2];
    } known[] = {
        { sim_exponential(1e9), { 932500507, 95130686 } },
        { sim_normal(1e9, 3e8), { 1081009178, 599147243 } },
        { sim_lognormal(1e9, 0.7), { 1208066824, 392459042 } },
        { sim_pareto(1e9, 1.5), { 1862029468, 1065474732 } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        for (uint64_t j = 0; j < 2; j++)
            assert_int_equal(sim_dist_draw(&known[i].dist,
                                           sim_luck_word(42, j, 0, 0)),
                             known[i].ns[j]);
}

/* ===== shapes ===== */

enum { N = 20000 };

/* Draws, and where each stands in the distribution by libm. */
static void check_shape(struct sim_dist d, double (*below)(double x))
{
    static double x[N];
    size_t n = sample_size(N);
    for (size_t i = 0; i < n; i++)
        x[i] = below((double)sim_dist_draw(&d, sim_luck_word(7, i, 0, 0)));
    assert_true(sample_ks(x, n) < SAMPLE_KS_LIMIT);
}

static double exponential_below(double x)
{
    return 1 - exp(-x / 1e8);
}

static double normal_below(double x)
{
    return erfc(-(x - 10e6) / 2e6 / sqrt(2)) / 2;
}

/* Half of it lies below zero, and is folded over. */
static double folded_below(double x)
{
    return erf(x / 2e6 / sqrt(2));
}

static double lognormal_below(double x)
{
    return erfc(-log(x / 1e7) / 0.7 / sqrt(2)) / 2;
}

static double pareto_below(double x)
{
    return 1 - pow(1e6 / x, 1.5);
}

static void dist_shapes_are_as_named(void **state)
{
    (void)state;
    check_shape(sim_exponential(1e8), exponential_below);
    check_shape(sim_normal(10e6, 2e6), normal_below);
    check_shape(sim_normal(0, 2e6), folded_below);
    check_shape(sim_lognormal(1e7, 0.7), lognormal_below);
    check_shape(sim_pareto(1e6, 1.5), pareto_below);
}

/* A third of exp(10 ms), two thirds of exp(40 ms). */
static const struct sim_dist_part third[] = {
    { .share = 1.0 / 3, .of = { .kind = SIM_EXPONENTIAL, .at_ns = 10e6 } },
    { .share = 2.0 / 3, .of = { .kind = SIM_EXPONENTIAL, .at_ns = 40e6 } },
};

static double mixture_below(double x)
{
    return 1 - exp(-x / 10e6) / 3 - 2 * exp(-x / 40e6) / 3;
}

/* Half up to 10 ms, none up to 20 ms, half up to 50 ms. */
static const struct sim_dist_part bars[] = {
    { .share = 0.5, .from_ns = 0, .upto_ns = 10e6 },
    { .share = 0.5, .from_ns = 20e6, .upto_ns = 50e6 },
};

static double bars_below(double x)
{
    return x < 10e6 ? 0.5 * x / 10e6 : 0.5 + 0.5 * (x - 20e6) / 30e6;
}

static void dist_of_parts_are_as_their_parts(void **state)
{
    (void)state;
    check_shape(sim_mixture(third, 2), mixture_below);
    check_shape(sim_empirical(bars, 2), bars_below);
}

/* Against the mean of what is drawn; of a Pareto distribution with alpha 3 that
 * is still known well enough. */
static void dist_means_are_those_of_draws(void **state)
{
    const struct sim_dist all[] = {
        sim_constant(1000),       sim_exponential(1e9),
        sim_normal(10e6, 2e6),    sim_normal(0, 2e6),
        sim_lognormal(1e7, 0.7),  sim_pareto(1e6, 3),
        sim_mixture(third, 2),    sim_empirical(bars, 2),
    };
    size_t n = sample_size(200000);
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += (double)sim_dist_draw(&all[i], sim_luck_word(3, k, i, 0));
        close_to(sim_dist_mean(&all[i]), sum / (double)n, 0.02);
    }
    struct sim_dist endless = sim_pareto(1e6, 1);
    assert_true(isinf(sim_dist_mean(&endless)));
}

/* The luck is the engine's own hash, inlined. */
static void luck_is_the_published_hash(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(sim_luck_word(i, i * i, ~i, i << 40) ==
                    bide_rng_hash(i, i * i, ~i, i << 40));
}

static void dist_constant_is_exact(void **state)
{
    struct sim_dist d = sim_constant(123456789);
    (void)state;
    assert_int_equal(sim_dist_draw(&d, 0), 123456789);
    assert_int_equal(sim_dist_draw(&d, UINT64_MAX), 123456789);
}

static void dist_extreme_words_are_durations(void **state)
{
    const struct sim_dist all[] = { sim_exponential(1e9), sim_normal(1e9, 1e9),
                                    sim_lognormal(1e9, 100),
                                    sim_pareto(1e9, 0.01) };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_true(sim_dist_draw(&all[i], 0) >= 0);
        assert_true(sim_dist_draw(&all[i], UINT64_MAX) >= 0);
        assert_true(sim_dist_draw(&all[i], UINT64_MAX) <= INT64_C(1) << 62);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_log_agrees_with_libm),
        cmocka_unit_test(number_exp_agrees_with_libm),
        cmocka_unit_test(number_normal_quantile_inverts_erfc),
        cmocka_unit_test(dist_draws_stay),
        cmocka_unit_test(dist_shapes_are_as_named),
        cmocka_unit_test(dist_of_parts_are_as_their_parts),
        cmocka_unit_test(dist_means_are_those_of_draws),
        cmocka_unit_test(luck_is_the_published_hash),
        cmocka_unit_test(dist_constant_is_exact),
        cmocka_unit_test(dist_extreme_words_are_durations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
