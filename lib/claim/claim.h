/* Claims: what was read of the owner of the retries is taken in. */
#ifndef BIDE_LIB_CLAIM_H
#define BIDE_LIB_CLAIM_H

#include <stdint.h>

#include "bide/claim.h"

/* Takes in a claim, of a `max` that may be unknown (0). One that is invalid, or
 * of a sender that makes one attempt, changes nothing. The order of calls makes
 * no difference, here and below. */
void bide__claim_offer(bide_claim *claim, bide_claim_source source,
                       int64_t attempt, int64_t max);

/* Takes in a deadline: as the time that is left, or as a time since 1970. */
void bide__claim_limit(bide_claim *claim, int64_t left_ns);
void bide__claim_until(bide_claim *claim, int64_t until_ms, int64_t wall_ms);

#endif
