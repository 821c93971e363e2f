/* bide sim: operands and policy flags -> models. */
#ifndef BIDE_CMD_SIM_SUBJECT_H
#define BIDE_CMD_SIM_SUBJECT_H

#include "cmd/sim/ask.h"

/* Reads what the operands name. If they name no scenario, `usual` is run; if
 * that is NULL, it is an error. -1 to continue, else an exit code. */
int subjects_read(struct sim_ask *ask, char **operands, int n,
                  const char *usual);
void subjects_done(struct sim_ask *ask);

/* Which text of a model has characters that would control a terminal, or
 * NULL. */
const char *unprintable_part(const struct sim_model *m);

#endif
