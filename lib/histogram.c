/* The coarse histograms of the statistics. */
#include "lib/histogram.h"

#include <stddef.h>

/* Bucket 0 is all under 1.25 us; then 1.25, 1.5, 1.75, 2, 2.5, 3, ... us. */
enum { SUB = 4, UNIT_NS = 250 };

int64_t bide_bucket_ns(unsigned i)
{
    if (i == 0)
        return 0;
    if (i > BIDE_N_BUCKETS)
        i = BIDE_N_BUCKETS;
    return (int64_t)(UNIT_NS * (SUB + i % SUB)) << (i / SUB);
}

static unsigned bucket_of(int64_t ns)
{
    uint64_t units = (uint64_t)ns / UNIT_NS;
    if (units < SUB)
        return 0;
    unsigned doublings = 61u - (unsigned)__builtin_clzll(units);
    unsigned i = doublings * SUB + (unsigned)(units >> doublings) - SUB;
    return i < BIDE_N_BUCKETS ? i : BIDE_N_BUCKETS - 1;
}

/* n * ns, saturating: a sum that wrapped would be worse than one that stops. */
static uint64_t product(int64_t ns, uint64_t n)
{
    uint64_t v = (uint64_t)ns;
    return v != 0 && n > UINT64_MAX / v ? UINT64_MAX : v * n;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void bide__histogram_add(struct bide__histogram *h, int64_t ns, uint64_t n)
{
    uint64_t more = product(ns, n);
    uint64_t seen = atomic_load_explicit(&h->sum_ns, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&h->sum_ns, &seen,
                                                  sum(seen, more),
                                                  memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
    atomic_fetch_add_explicit(&h->bucket[bucket_of(ns)], n,
                              memory_order_relaxed);
}

void bide__histogram_count(bide_histogram *h, int64_t ns, uint64_t n)
{
    h->bucket[bucket_of(ns)] += n;
    h->count += n;
    h->sum_ns = sum(h->sum_ns, product(ns, n));
}

void bide__histogram_read(const struct bide__histogram *from,
                          bide_histogram *to)
{
    for (unsigned i = 0; i < BIDE_N_BUCKETS; i++) {
        uint64_t n = atomic_load_explicit(&from->bucket[i],
                                          memory_order_relaxed);
        to->bucket[i] += n;
        to->count += n;
    }
    to->sum_ns = sum(to->sum_ns, atomic_load_explicit(&from->sum_ns,
                                                      memory_order_relaxed));
}

int64_t bide_histogram_quantile(const bide_histogram *h, double q)
{
    if (!h || h->count == 0 || !(q >= 0 && q <= 1))
        return -1;
    double rank = q * (double)h->count;
    uint64_t below = 0;
    unsigned last = 0;
    for (unsigned i = 0; i < BIDE_N_BUCKETS; i++) {
        if (h->bucket[i] == 0)
            continue;
        last = i;
        below += h->bucket[i];
        if ((double)below >= rank)
            break;
    }
    return bide_bucket_ns(last) +
           (bide_bucket_ns(last + 1) - bide_bucket_ns(last)) / 2;
}
