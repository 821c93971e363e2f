/* bide sim SCENARIO. */
#ifndef BIDE_CMD_SIM_RUN_H
#define BIDE_CMD_SIM_RUN_H

#include "cmd/sim/ask.h"

/* Runs it and shows the results; returns an exit code. */
int sim_run_command(struct sim_ask *ask);

#endif
