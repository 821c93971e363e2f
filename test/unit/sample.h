/* sample.h: is this sample what it should be? Kolmogorov-Smirnov and
 * chi-square, both at alpha = 1e-4. Every sample is drawn from a fixed seed, so
 * a test that passes once passes always. */
#ifndef BIDE_TEST_SAMPLE_H
#define BIDE_TEST_SAMPLE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Under valgrind a tenth is enough: it looks at memory, not at shapes. */
static inline size_t sample_size(size_t n)
{
    return getenv("BIDE_TEST_VALGRIND") ? n / 10 : n;
}

static inline int sample_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The distance between a sample and the uniform distribution on [0, 1], times
 * what makes it comparable over all n (Stephens 1970). Sorts x. */
static inline double sample_ks(double *x, size_t n)
{
    double most = 0, root = sqrt((double)n);
    qsort(x, n, sizeof *x, sample_compare);
    for (size_t i = 0; i < n; i++) {
        double above = (double)(i + 1) / (double)n - x[i];
        double below = x[i] - (double)i / (double)n;
        most = fmax(most, fmax(above, below));
    }
    return most * (root + 0.12 + 0.11 / root);
}

/* sqrt(-ln(alpha / 2) / 2) for alpha = 1e-4. */
#define SAMPLE_KS_LIMIT 2.2253

/* Whether a sample of whole numbers looks drawn from [lo, hi], each equally
 * likely; x is made to lie in [0, 1] for that. */
static inline bool sample_is_uniform(double *x, size_t n, int64_t lo,
                                     int64_t hi)
{
    double width = (double)hi - (double)lo + 1;
    for (size_t i = 0; i < n; i++)
        x[i] = (x[i] - (double)lo + 0.5) / width;
    return sample_ks(x, n) < SAMPLE_KS_LIMIT;
}

static inline double sample_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* Whether the mean of n draws is within 4 sigma of that of a uniform [lo, hi].
 */
static inline bool sample_mean_fits(double mean, size_t n, double lo, double hi)
{
    double sigma = (hi - lo) / sqrt(12.0 * (double)n);
    return fabs(mean - (lo + hi) / 2) <= 4 * sigma;
}

/* Chi-square of counts that should all be equal, and the limit for it (Wilson
 * and Hilferty's approximation of the quantile at 1 - 1e-4). */
static inline double sample_chi2(const uint64_t *count, size_t bins)
{
    double total = 0, chi2 = 0;
    for (size_t i = 0; i < bins; i++)
        total += (double)count[i];
    double expected = total / (double)bins;
    for (size_t i = 0; i < bins; i++) {
        double off = (double)count[i] - expected;
        chi2 += off * off / expected;
    }
    return chi2;
}

static inline double sample_chi2_limit(size_t bins)
{
    double k = (double)bins - 1;
    double third = 1 - 2 / (9 * k) + 3.719 * sqrt(2 / (9 * k));
    return k * third * third * third;
}

#endif
