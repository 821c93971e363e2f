/* Hints: which of several waits that a server named is taken. */
#ifndef BIDE_LIB_RESPONSE_HINT_H
#define BIDE_LIB_RESPONSE_HINT_H

#include <stdint.h>

#include "bide/hint.h"

/* Takes in one valid wait from `source`: the most precise source wins, and of
 * two of one kind the longer. The order of calls makes no difference. */
void bide__hint_offer(bide_hint *hint, bide_hint_source source,
                      int64_t wait_ns);

#endif
