/* The shapes of a wait.
 *
 * Every jitter is a uniform draw from a range; the shapes differ only in the
 * range. So one function computes the range and one draws from it, and what
 * `bide explain` shows is what the engine uses.
 *
 * Cap before jitter: draws that are clamped afterwards pile up at the cap, and
 * clients that failed together come back together. */
#include "bide/backoff.h"

#include <stddef.h>
#include <string.h>

#include "bide/error.h"
#include "lib/wait/backoff.h"
#include "lib/ns.h"

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint32_t n_delays(const bide_backoff *b)
{
    return b->delays.n < BIDE_MAX_DELAYS ? b->delays.n : BIDE_MAX_DELAYS;
}

/* No wait is longer, before the floor. A list says so by itself: a cap that cut
 * off what is written there would be a silent correction. */
static int64_t cap_of(const bide_backoff *b)
{
    int64_t longest = 0;
    if (b->delays.n == 0)
        return b->cap_ns;
    for (uint32_t i = 0; i < n_delays(b); i++)
        longest = larger(longest, b->delays.ns[i]);
    return longest;
}

static int64_t listed_value(const bide_backoff *b, uint32_t n)
{
    uint32_t last = n_delays(b) - 1;
    return larger(b->delays.ns[n < last ? n : last], 0);
}

static int64_t linear_value(const bide_backoff *b, uint32_t n)
{
    int64_t v = bide__times_ns(larger(b->base_ns, 0), (uint64_t)n + 1);
    return larger(smaller(v, b->cap_ns), 0);
}

int64_t bide_backoff_value(const bide_backoff *b, uint32_t n)
{
    if (b->delays.n != 0)
        return listed_value(b, n);
    if (b->shape == BIDE_SHAPE_LINEAR)
        return linear_value(b, n);
    return bide__grow_ns(b->base_ns, b->factor, n, b->cap_ns);
}

/* 3 * previous, where previous starts at base. */
static int64_t decorrelated_max(const bide_backoff *b, int64_t previous)
{
    previous = larger(larger(previous, b->base_ns), 0);
    return previous > b->cap_ns / 3 ? b->cap_ns : 3 * previous;
}

void bide__backoff_spread(const bide_backoff *b, int64_t v, int64_t previous_ns,
                          int64_t *ret_min_ns, int64_t *ret_max_ns)
{
    int64_t lo = v, hi = v;

    switch (b->jitter) {
    case BIDE_JITTER_NONE:
        break;
    case BIDE_JITTER_FULL:
        lo = 0;
        break;
    case BIDE_JITTER_EQUAL:
        lo = v / 2;
        break;
    case BIDE_JITTER_DECORRELATED:
        lo = smaller(b->base_ns, b->cap_ns);
        hi = decorrelated_max(b, previous_ns);
        break;
    case BIDE_JITTER_PROPORTIONAL:
        /* the scaling goes through double, which may round up past the cap */
        lo = smaller(bide__scale_ns(v, 1 - b->spread), cap_of(b));
        hi = smaller(bide__scale_ns(v, 1 + b->spread), cap_of(b));
        break;
    }
    *ret_min_ns = larger(larger(lo, b->floor_ns), 0);
    *ret_max_ns = larger(hi, *ret_min_ns);
}

void bide_backoff_range(const bide_backoff *b, uint32_t n, int64_t previous_ns,
                        int64_t *ret_min_ns, int64_t *ret_max_ns)
{
    bide__backoff_spread(b, bide_backoff_value(b, n), previous_ns, ret_min_ns,
                         ret_max_ns);
}

int64_t bide__backoff_most(const bide_backoff *b, int64_t v)
{
    return larger(smaller(v, cap_of(b)), 0);
}

int64_t bide_backoff_wait(const bide_backoff *b, uint32_t n,
                          int64_t previous_ns, const bide_rng *rng)
{
    int64_t lo, hi;
    bide_backoff_range(b, n, previous_ns, &lo, &hi);
    return bide_rng_between(rng, lo, hi);
}

static const char *const jitter_names[] = {
#define X(name, key, what) key,
    BIDE_JITTERS(X)
#undef X
};

enum { N_JITTERS = sizeof jitter_names / sizeof jitter_names[0] };

const char *bide_jitter_name(bide_jitter jitter)
{
    return (unsigned)jitter < N_JITTERS ? jitter_names[jitter] : NULL;
}

int bide_jitter_by_name(const char *name, bide_jitter *ret_jitter)
{
    if (!name || !ret_jitter)
        return BIDE_EINVAL;
    for (unsigned i = 0; i < N_JITTERS; i++) {
        if (strcmp(name, jitter_names[i]) == 0) {
            *ret_jitter = (bide_jitter)i;
            return 0;
        }
    }
    return BIDE_ENAME;
}
