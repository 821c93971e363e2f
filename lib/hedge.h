/* When a hedge is due. */
#ifndef BIDE_LIB_HEDGE_H
#define BIDE_LIB_HEDGE_H

#include "lib/call.h"

/* When the hedge of an attempt that begins now is due; FOREVER if none is. */
int64_t bide__hedge_due(struct bide__call *c, int64_t now);

#endif
