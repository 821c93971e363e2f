/* What attempts have to do with the gate (gate.h). */
#ifndef BIDE_LIB_ATTEMPT_GATE_H
#define BIDE_LIB_ATTEMPT_GATE_H

#include "lib/call.h"

/* Asks the gate, which is busy, to let an attempt through. */
struct bide__answer_to_start bide__attempt_ask_gate(struct bide__call *c,
                                                    bool beside, int64_t now,
                                                    struct bide__running *r);

/* Tells the gate what came of an attempt. Returns whether it asked for no work,
 * because it reached nobody (sets c->unreached and c->elsewhere) or a server that
 * did not begin with it (sets c->spared). */
bool bide__attempt_is_free(struct bide__call *c, const struct bide__running *r,
                           const bide_outcome *out, int64_t now);

/* An attempt that asked for no work does not count: the next one takes its place,
 * with what was paid for it. */
void bide__attempt_discount(struct bide__call *c, const struct bide__running *r,
                            int64_t now);

#endif
