/* bide sim: how many runs to make. */
#ifndef BIDE_CMD_SIM_PLAN_H
#define BIDE_CMD_SIM_PLAN_H

#include "cmd/sim/ask.h"
#include "sim/study/plan.h"

/* The plan of a model: seed, threads and replications, the latter `usual`
 * unless given, and fewer if that would take long. */
struct sim_plan plan_for(const struct sim_ask *ask, const struct sim_model *m,
                         uint32_t usual);

/* More runs than anybody waits for are refused before the first: -1 to go on,
 * or an exit code. `points` is by how much they are multiplied. */
int runs_fit(uint64_t points, const struct sim_plan *plan);

#endif
