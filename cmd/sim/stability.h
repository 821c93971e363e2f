/* bide sim stability: the map of load against the length of a fault. */
#ifndef BIDE_CMD_SIM_STABILITY_H
#define BIDE_CMD_SIM_STABILITY_H

#include "cmd/sim/ask.h"
#include "sim/study/axis.h"
#include "sim/study/stability.h"

/* Threads: owned. */
struct stability_cmd {
    const struct sim_ask *ask;
    const struct sim_model *model;
    struct sim_axis loads, triggers; /* as they are shown */
    struct sim_stability *map;
};

/* The command; returns an exit code. */
int sim_stability_command(struct sim_ask *ask);

/* Prints a map for each variant. */
void stability_print(const struct stability_cmd *c);

#endif
