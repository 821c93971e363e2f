/* The layer above: what the environment tells of a `bide run` that runs us. */
#ifndef BIDE_CMD_COMMON_PARENT_ENV_H
#define BIDE_CMD_COMMON_PARENT_ENV_H

#include <stdint.h>

#include "bide/call.h"

/* Sets in `op` what the environment (BIDE_ATTEMPT, BIDE_DEADLINE_MS) says about
 * a `bide run` that runs us. Values that bide would not have set are
 * ignored. */
void heed_layer_above(bide_op *op, int64_t now);

#endif
