/* The ideal distribution of waits: the policy's jitter applied to the computed
 * waits, without the randomness of the draw.
 *
 *     double want[BIDE_N_BUCKETS];
 *     bide__ideal_waits(&conf->backoff, conf->attempts, &stats.wait_computed,
 *                       want);
 *
 * The histogram of computed waits says how often each retry was made; each is
 * spread evenly over the range that its wait is drawn from. Waits that a
 * server's hint decided do not follow the policy, and match this only
 * roughly. */
#ifndef BIDE_OBSERVE_ADMIN_IDEAL_H
#define BIDE_OBSERVE_ADMIN_IDEAL_H

#include "bide/backoff.h"
#include "bide/stats.h"

/* Fills in how many waits each bucket should hold; they sum to
 * computed->count. */
void bide__ideal_waits(const bide_backoff *backoff, uint32_t attempts,
                       const bide_histogram *computed,
                       double want[BIDE_N_BUCKETS]);

#endif
