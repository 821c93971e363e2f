/* bide run: commands of the user's own (--on-retry and the like). */
#ifndef BIDE_CMD_RUN_HOOK_H
#define BIDE_CMD_RUN_HOOK_H

#include "bide/call.h"

struct run;

/* The hooks, if there are any: before another attempt, and at the end. `code` is
 * what we are about to exit with. */
void hook_before_retry(struct run *r);
void hook_at_end(struct run *r, const bide_decision *d, int code);

#endif
