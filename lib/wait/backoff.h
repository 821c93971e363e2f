/* The two halves of a wait, for a value that something else computed. */
#ifndef BIDE_LIB_BACKOFF_H
#define BIDE_LIB_BACKOFF_H

#include "bide/backoff.h"

/* The bounds of the jittered wait whose value before jitter is `v`, as
 * bide_backoff_range() computes them for v(n). */
void bide__backoff_spread(const bide_backoff *b, int64_t v, int64_t previous_ns,
                          int64_t *ret_min_ns, int64_t *ret_max_ns);

/* `v` as far as the cap allows, and not below 0. */
int64_t bide__backoff_most(const bide_backoff *b, int64_t v);

#endif
