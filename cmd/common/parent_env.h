/* The layer above: what the environment tells of a `bide run` that runs us. */
#ifndef BIDE_CMD_COMMON_PARENT_ENV_H
#define BIDE_CMD_COMMON_PARENT_ENV_H

#include <stdint.h>

#include "bide/call.h"

/* Sets of `op` what the environment (BIDE_ATTEMPT, BIDE_DEADLINE_MS) tells of a
 * `bide run` that runs us. What bide would not have put there is ignored. */
void heed_layer_above(bide_op *op, int64_t now);

#endif
