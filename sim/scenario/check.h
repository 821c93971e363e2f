/* What can be said of a scenario only when all of it has been read (graph.c,
 * lint.c). */
#ifndef BIDE_SIM_SCENARIO_CHECK_H
#define BIDE_SIM_SCENARIO_CHECK_H

#include "sim/scenario/load.h"

/* It is a mistake if services call each other in a circle. */
void sim_check_graph(struct sim_load *l);

/* Warns of what would run, and is likely not meant. */
void sim_lint_scenario(struct sim_load *l, const struct bide__node *faults);

#endif
