/* Unbiased draws from any source of 64-bit words.
 *
 * A remainder (`next() % n`) favours small numbers, and a scaled double leaves
 * gaps. The draw here multiplies a 64-bit word by the size of the range and
 * keeps the upper half, throwing away the few words that would make some results
 * more likely than others (Lemire, "Fast random integer generation in an
 * interval", 2019).
 *
 * The built-in generator is SplitMix64: a counter and a mixing function. A
 * counter can be shared by threads with one atomic addition, which is what a
 * dependency does (dep.c). */
#include "lib/rng.h"

#include <stddef.h>

#include "lib/ns.h"

uint64_t bide__mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t next_seeded(void *state)
{
    bide_rng_seeded *seeded = state;
    return bide__mix(seeded->counter += BIDE__GOLDEN);
}

bide_rng bide_rng_seed(bide_rng_seeded *state, uint64_t seed)
{
    state->counter = bide__mix(seed);
    return (bide_rng){ next_seeded, state };
}

/* A generator that is stuck must not hang its caller: it gets as many chances
 * as an honest one needs with odds of 1 in 2^64, then its word is used. */
enum { MOST_REJECTIONS = 64 };

/* In [0, n), for n > 0. */
static uint64_t below(const bide_rng *rng, uint64_t n)
{
    uint64_t word = rng->next(rng->state);
    uint64_t low = word * n;
    if (low < n) {
        uint64_t threshold = (0 - n) % n;
        for (int i = 0; low < threshold && i < MOST_REJECTIONS; i++) {
            word = rng->next(rng->state);
            low = word * n;
        }
    }
    return bide__mulhi(word, n);
}

int64_t bide_rng_between(const bide_rng *rng, int64_t lo, int64_t hi)
{
    if (hi <= lo)
        return lo;
    uint64_t span = (uint64_t)hi - (uint64_t)lo;
    uint64_t draw = span == UINT64_MAX ? rng->next(rng->state)
                                       : below(rng, span + 1);
    return (int64_t)((uint64_t)lo + draw);
}

double bide_rng_unit(const bide_rng *rng)
{
    return (double)(rng->next(rng->state) >> 11) * 0x1p-53;
}

uint64_t bide_rng_hash(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t h = bide__mix(a + BIDE__GOLDEN);
    h = bide__mix(h ^ (b + BIDE__GOLDEN));
    h = bide__mix(h ^ (c + BIDE__GOLDEN));
    return bide__mix(h ^ (d + BIDE__GOLDEN));
}
