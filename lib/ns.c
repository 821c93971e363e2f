/* Saturating arithmetic on durations.
 *
 * Growth is computed in double: it reaches infinity instead of wrapping, and an
 * infinite wait is then simply over the cap. Only multiplication and comparison
 * are used, which IEEE 754 defines to the bit, so that a simulation gives the
 * same numbers everywhere; pow() does not promise that. */
#include "lib/ns.h"

/* 2^63 as a double: the first value that does not fit an int64_t. */
#define TOO_LARGE 9223372036854775808.0

static int64_t from_double(double ns)
{
    if (!(ns > 0))
        return 0;
    return ns < TOO_LARGE ? (int64_t)ns : BIDE_FOREVER;
}

int64_t bide__times_ns(int64_t ns, uint64_t n)
{
    return ns != 0 && n > (uint64_t)(BIDE_FOREVER / ns) ? BIDE_FOREVER
                                                        : ns * (int64_t)n;
}

int64_t bide__scale_ns(int64_t ns, double ratio)
{
    return from_double((double)ns * ratio);
}

static double power(double factor, uint32_t n)
{
    double result = 1;
    for (; n != 0; n >>= 1) {
        if (n & 1)
            result *= factor;
        factor *= factor;
    }
    return result;
}

int64_t bide__grow_ns(int64_t base, double factor, uint32_t n, int64_t cap)
{
    if (base <= 0 || cap <= 0)
        return 0; /* so 0 * infinity, which is NaN, never happens */
    if (base >= cap)
        return cap;
    if (n == 0 || !(factor > 1))
        return base;
    double grown = (double)base * power(factor, n);
    return grown < (double)cap ? (int64_t)grown : cap;
}

struct bide__ticker bide__ticker(int64_t length_ns)
{
    uint64_t length = length_ns > 2 ? (uint64_t)length_ns : 2;
    return (struct bide__ticker){ UINT64_MAX / length + 1 };
}
