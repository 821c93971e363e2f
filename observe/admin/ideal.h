/* The shape that waits should have: what the policy's jitter makes of the waits
 * that were computed, without the luck of the draw.
 *
 *     double want[BIDE_N_BUCKETS];
 *     bide__ideal_waits(&conf->backoff, conf->attempts, &stats.wait_computed,
 *                       want);
 *
 * The histogram of computed waits says how often each retry was made; each is
 * spread evenly over the range that its wait is drawn from. What a server's
 * hint decided is not the policy's shape, and spreads by the same rule only
 * roughly. */
#ifndef BIDE_OBSERVE_ADMIN_IDEAL_H
#define BIDE_OBSERVE_ADMIN_IDEAL_H

#include "bide/backoff.h"
#include "bide/stats.h"

/* Fills in how many waits each bucket should hold; all of them add up to
 * computed->count. */
void bide__ideal_waits(const bide_backoff *backoff, uint32_t attempts,
                       const bide_histogram *computed,
                       double want[BIDE_N_BUCKETS]);

#endif
