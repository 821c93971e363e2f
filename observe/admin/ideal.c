/* Computes how waits should be distributed: the range of each retry is spread
 * evenly over the buckets of the histogram. */
#include "observe/admin/ideal.h"

#include <string.h>

enum { MOST_RETRIES = 32, DRAWS = 512 };

static unsigned bucket_of(int64_t ns)
{
    unsigned low = 0, high = BIDE_N_BUCKETS - 1;
    while (low < high) { /* the last bucket that begins at or below ns */
        unsigned middle = (low + high + 1) / 2;
        if (bide_bucket_ns(middle) <= ns)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Adds n waits, uniformly distributed from `min` to `max`. */
static void spread(int64_t min, int64_t max, double n,
                   double want[BIDE_N_BUCKETS])
{
    unsigned first = bucket_of(min), last = bucket_of(max);
    if (first == last) {
        want[first] += n;
        return;
    }
    for (unsigned i = first; i <= last; i++) {
        int64_t from = bide_bucket_ns(i), to = bide_bucket_ns(i + 1);
        if (from < min)
            from = min;
        if (to > max)
            to = max;
        want[i] += n * (double)(to - from) / (double)(max - min);
    }
}

/* With decorrelated jitter each wait depends on the previous one, so the waits
 * are simulated, with the same draws each time. */
static void draw(const bide_backoff *b, uint32_t retry, double n,
                 double want[BIDE_N_BUCKETS])
{
    bide_rng_seeded state;
    bide_rng rng = bide_rng_seed(&state, 1);
    for (int i = 0; i < DRAWS; i++) {
        int64_t wait = 0, min, max;
        for (uint32_t k = 0; k < retry; k++)
            wait = bide_backoff_wait(b, k, wait, &rng);
        bide_backoff_range(b, retry, wait, &min, &max);
        spread(min, max, n / DRAWS, want);
    }
}

static void put(const bide_backoff *b, uint32_t retry, double n,
                double want[BIDE_N_BUCKETS])
{
    int64_t min, max;
    if (b->jitter == BIDE_JITTER_DECORRELATED) {
        draw(b, retry, n, want);
        return;
    }
    bide_backoff_range(b, retry, 0, &min, &max);
    spread(min, max, n, want);
}

/* The retry whose computed wait lies in this bucket, or none. */
static bool retry_of(const bide_backoff *b, uint32_t retries, unsigned bucket,
                     uint32_t *ret)
{
    for (uint32_t n = 0; n < retries && n < MOST_RETRIES; n++)
        if (bucket_of(bide_backoff_value(b, n)) == bucket) {
            *ret = n;
            return true;
        }
    return false;
}

void bide__ideal_waits(const bide_backoff *backoff, uint32_t attempts,
                       const bide_histogram *computed,
                       double want[BIDE_N_BUCKETS])
{
    uint32_t retry;
    memset(want, 0, BIDE_N_BUCKETS * sizeof want[0]);
    for (unsigned i = 0; i < BIDE_N_BUCKETS; i++) {
        double n = (double)computed->bucket[i];
        if (n == 0)
            continue;
        if (retry_of(backoff, attempts, i, &retry))
            put(backoff, retry, n, want);
        else /* a hint, or an immediate retry: near its value */
            spread(bide_bucket_ns(i), bide_bucket_ns(i + 1), n, want);
    }
}
