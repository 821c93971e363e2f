/* Waiting instead of failing: `when_refused: wait`. */
#ifndef BIDE_LIB_HOLD_H
#define BIDE_LIB_HOLD_H

#include "lib/call.h"

/* Lets a call wait that was refused for this reason, if its policy says so and
 * waiting may help. False: the call ends. */
bool bide__hold(struct bide__call *c, bide_reason reason, int64_t now);

#endif
