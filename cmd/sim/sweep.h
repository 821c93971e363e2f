/* bide sim --sweep: many values of one or two settings. */
#ifndef BIDE_CMD_SIM_SWEEP_H
#define BIDE_CMD_SIM_SWEEP_H

#include "cmd/sim/ask.h"
#include "sim/study/sweep.h"

/* The most important figures, shown unless --metric names others. */
enum { N_USUAL = 5 };
extern const enum sim_figure usual_figures[N_USUAL];

/* Threads: owned. */
struct sweep_cmd {
    const struct sim_ask *ask;
    const struct sim_model *model;
    struct sim_axis axes[2];
    struct sim_sweep *sweep;
    enum sim_figure metric;
    bool chosen; /* --metric was given */
    const char *names[MOST_NAMED];
    uint32_t n_names;
};

/* The command; returns an exit code. */
int sim_sweep_command(struct sim_ask *ask);

/* A table for one axis, heat maps for two. */
void sweep_print(const struct sweep_cmd *c);

#endif
