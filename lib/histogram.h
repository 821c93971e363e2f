/* Histograms that only grow, for the statistics: 4 buckets per doubling, from
 * 1 us to over an hour. */
#ifndef BIDE_LIB_HISTOGRAM_H
#define BIDE_LIB_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#include "bide/stats.h"

struct bide__histogram {
    _Atomic uint64_t sum_ns;
    _Atomic uint64_t bucket[BIDE_N_BUCKETS];
};

/* Counts `n` durations of `ns`. */
void bide__histogram_add(struct bide__histogram *h, int64_t ns, uint64_t n);

/* The same, into a snapshot. */
void bide__histogram_count(bide_histogram *h, int64_t ns, uint64_t n);

/* Adds the content of `from` to a snapshot. */
void bide__histogram_read(const struct bide__histogram *from,
                          bide_histogram *to);

#endif
