/* bide sim: the number of runs. */
#ifndef BIDE_CMD_SIM_PLAN_H
#define BIDE_CMD_SIM_PLAN_H

#include "cmd/sim/ask.h"
#include "sim/study/plan.h"

/* The plan of a model: seed, threads and replications. The number of
 * replications is `usual` unless given, and fewer if that would take long. */
struct sim_plan plan_for(const struct sim_ask *ask, const struct sim_model *m,
                         uint32_t usual);

/* Refuses a study with more runs than anyone would wait for: -1 to continue, or
 * an exit code. `points` multiplies the number of runs. */
int runs_fit(uint64_t points, const struct sim_plan *plan);

#endif
