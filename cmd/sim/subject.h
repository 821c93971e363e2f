/* bide sim: operands and policy flags -> models. */
#ifndef BIDE_CMD_SIM_SUBJECT_H
#define BIDE_CMD_SIM_SUBJECT_H

#include "cmd/sim/ask.h"

/* Reads what the operands name; `usual` is run where they name no scenario, or
 * NULL: that is a mistake. -1 to go on, else an exit code. */
int subjects_read(struct sim_ask *ask, char **operands, int n,
                  const char *usual);
void subjects_done(struct sim_ask *ask);

/* Which text of a model a terminal might obey instead of showing it, or NULL.
 */
const char *unprintable_part(const struct sim_model *m);

#endif
