/* The wait before a retry, before the server's hint is looked at. */
#ifndef BIDE_LIB_WAIT_H
#define BIDE_LIB_WAIT_H

#include "lib/call.h"

/* `backoff` with what is different in `part`. */
bide_backoff bide__backoff_with(const bide_backoff *backoff,
                                const bide_backoff_part *part);

/* Whose backoff applies to the failure that is being judged. */
bide_after bide__wait_after(const struct bide__call *c);

/* Computes value_ns, wait_min_ns and wait_max_ns of retry n (from 0). */
void bide__wait_compute(struct bide__call *c, uint32_t n, int64_t now);

/* Computes the wait before the next retry: reason, value and range, and draws it.
 * In retry.c. */
void bide__wait_retry(struct bide__call *c, int64_t now);

#endif
