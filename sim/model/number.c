/* Logarithm, exponential and normal quantile, the same bits on every machine:
 * plain series where they converge fast, and a table to make them do so. */
#include "sim/model/number.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "sim/model/number_table.h"

static const double ln2 = 0.69314718055994530942;

/* ln 2 in two parts: the product of the first and an integer up to 2^11 is
 * exact. */
static const double ln2_high = 0x1.62e42fefa0000p-1;
static const double ln2_low = 0x1.cf79abc9e3b3ap-40;

static double power_of_2(int64_t exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ln (1 + r) - r, to the sixth power: for |r| < 1/200 the next is under 1e-17. */
static double near_one(double r)
{
    double r2 = r * r;
    double p = (-1.0 / 4 + r * (1.0 / 5)) - r2 * (1.0 / 6);
    return r2 * ((-1.0 / 2 + r * (1.0 / 3)) + r2 * p);
}

/* x = m * 2^e with m in [sqrt(1/2), sqrt(2)), and m = (1 + r) / c with c from a
 * table, so that |r| < 1/200. The cut of the mantissa is computed without a
 * branch, which would be unpredictable for a random x; and there is no
 * division, which would take as long as all the rest. m * c - 1 is exact, in
 * two parts. */
double sim_log(double x)
{
    const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd);
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t above = bits - root_half;
    double e = (double)((int64_t)above >> 52);
    above &= (UINT64_C(1) << 52) - 1;
    uint64_t whole = above + root_half, cut = whole & ~UINT64_C(511);
    double m, m_high;
    memcpy(&m, &whole, sizeof m);
    memcpy(&m_high, &cut, sizeof m_high);
    double c = log_table[above >> 45].inverse;
    double r = (m_high * c - 1) + (m - m_high) * c;
    double tail = e * ln2_low + log_table[above >> 45].low + near_one(r);
    return (e * ln2_high + log_table[above >> 45].high) + (r + tail);
}

/* x = k ln 2 + r with |r| < 0.35, and Taylor's series for e^r. */
double sim_exp(double x)
{
    if (x < -700)
        return 0;
    if (x > 700)
        x = 700;
    int64_t k = (int64_t)(x / ln2 + (x < 0 ? -0.5 : 0.5));
    double r = (x - (double)k * ln2_high) - (double)k * ln2_low;
    double sum = 1;
    for (int n = 14; n > 0; n--)
        sum = 1 + sum * r / n;
    return sum * power_of_2(k);
}

double sim_sqrt(double x)
{
    return sqrt(x); /* IEEE 754 requires this one to be correctly rounded */
}

/* P. J. Acklam's rational approximations, for the tails and the middle. */
static double in_tail(double p)
{
    double q = sim_sqrt(-2 * sim_log(p));
    double above = -7.784894002430293e-03;
    above = above * q - 3.223964580411365e-01;
    above = above * q - 2.400758277161838e+00;
    above = above * q - 2.549732539343734e+00;
    above = above * q + 4.374664141464968e+00;
    above = above * q + 2.938163982698783e+00;
    double below = 7.784695709041462e-03;
    below = below * q + 3.224671290700398e-01;
    below = below * q + 2.445134137142996e+00;
    below = below * q + 3.754408661907416e+00;
    return above / (below * q + 1);
}

double sim_normal_quantile(double p)
{
    if (p < 0.02425)
        return in_tail(p);
    if (p > 1 - 0.02425)
        return -in_tail(1 - p);
    double q = p - 0.5, r = q * q;
    double above = -3.969683028665376e+01;
    above = above * r + 2.209460984245205e+02;
    above = above * r - 2.759285104469687e+02;
    above = above * r + 1.383577518672690e+02;
    above = above * r - 3.066479806614716e+01;
    above = above * r + 2.506628277459239e+00;
    double below = -5.447609879822406e+01;
    below = below * r + 1.615858368580409e+02;
    below = below * r - 1.556989798598866e+02;
    below = below * r + 6.680131188771972e+01;
    below = below * r - 1.328068155288572e+01;
    return q * above / (below * r + 1);
}
