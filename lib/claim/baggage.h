/* W3C baggage: bide's own members are read here. */
#ifndef BIDE_LIB_BAGGAGE_H
#define BIDE_LIB_BAGGAGE_H

#include <stdint.h>

#include "bide/claim.h"
#include "lib/ascii.h"

/* Reads bide's members of one baggage field into a claim. A field over the
 * limits of bide/claim.h is not read beyond them. */
void bide__baggage_read(bide_claim *claim, struct bide__text value,
                        int64_t wall_ms);

#endif
