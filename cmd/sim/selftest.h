/* bide sim selftest. */
#ifndef BIDE_CMD_SIM_SELFTEST_H
#define BIDE_CMD_SIM_SELFTEST_H

#include "cmd/sim/ask.h"

/* Runs models whose results are known; returns an exit code. */
int sim_selftest_command(struct sim_ask *ask);

#endif
