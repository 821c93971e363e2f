/* The layers above and below, which the environment connects: a `bide run` that
 * runs us, and what we run.
 *
 *     bide_op op = { .idempotent = true };
 *     heed_layer_above(&op, now_ns);
 *     bide_call_begin(&call, dep, &op, now_ns);
 *     ...
 *     bide_claim claim = bide_call_claim(&call, &op, d.attempt, now_ns);
 *     tell_layer_below(&claim);            // before fork()
 *
 * BAGGAGE has the claim (bide/claim.h). BIDE_ATTEMPT and BIDE_ATTEMPTS are for
 * scripts, and not read: a command that is run only once has them as well. */
#ifndef BIDE_CMD_COMMON_PARENT_ENV_H
#define BIDE_CMD_COMMON_PARENT_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/claim.h"

/* Sets in `op` what the environment (BAGGAGE, BIDE_DEADLINE_MS) says about a
 * `bide run` that runs us. Values that bide would not have set are ignored. */
void heed_layer_above(bide_op *op, int64_t now);

/* Puts the claim into BAGGAGE, beside what others have there. False: no
 * memory. */
bool tell_layer_below(const bide_claim *claim);

#endif
