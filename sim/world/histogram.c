/* Counts durations in 128 buckets for each power of two. A quantile is
 * interpolated within its bucket. */
#include "sim/world/histogram.h"

static unsigned bucket_of(uint64_t ns)
{
    if (ns < UINT64_C(1) << SIM_FINE)
        return (unsigned)ns;
    unsigned shift = 63 - (unsigned)__builtin_clzll(ns) - SIM_FINE;
    return (shift << SIM_FINE) + (unsigned)(ns >> shift);
}

double sim_histogram_from(unsigned i)
{
    if (i < 2u << SIM_FINE)
        return i;
    unsigned shift = (i >> SIM_FINE) - 1;
    uint64_t rest = (i & ((1u << SIM_FINE) - 1)) + (1u << SIM_FINE);
    return (double)(rest << shift);
}

void sim_histogram_add(struct sim_histogram *h, int64_t ns)
{
    h->count++;
    h->sum_ns += (double)ns;
    h->bucket[bucket_of(ns > 0 ? (uint64_t)ns : 0)]++;
}

double sim_histogram_mean(const struct sim_histogram *h)
{
    return h->count ? h->sum_ns / (double)h->count : 0;
}

double sim_histogram_quantile(const struct sim_histogram *h, double q)
{
    double rank = q * (double)h->count, below = 0;
    for (unsigned i = 0; i < SIM_BUCKETS; i++) {
        double here = (double)h->bucket[i];
        if (here > 0 && below + here >= rank) {
            double from = sim_histogram_from(i), to = sim_histogram_from(i + 1);
            return from + (to - from) * (rank - below) / here;
        }
        below += here;
    }
    return 0;
}
