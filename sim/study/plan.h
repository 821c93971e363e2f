/* Plans: one model run with many seeds on all cores.
 *
 *     struct sim_plan plan = { .model = m, .replications = 20, .threads = 0 };
 *     struct sim_summary *s = sim_replicate(&plan);
 *     const struct sim_interval *i = &s->variants[0].figure[SIM_FIG_RECOVER];
 *     printf("%g s, %g to %g\n", i->mean, i->low, i->high);
 *     sim_summary_free(s);
 *
 * Replication k of every variant has the seed `plan.seed + k`, and so draws the
 * same luck. The result does not depend on the number of threads. Threads:
 * owned. */
#ifndef BIDE_SIM_STUDY_PLAN_H
#define BIDE_SIM_STUDY_PLAN_H

#include "sim/study/summary.h"
#include "sim/world/stage.h"

struct sim_plan {
    const struct sim_model *model;
    uint64_t seed;
    uint32_t replications;     /* at least 1 */
    uint32_t threads;          /* 0: one for each core */
    struct sim_run_conf run_conf; /* its progress is that of the plan */
};

/* A sensible number of replications of a model: `usual`, or fewer if those
 * would take long; at least 1. */
uint32_t sim_plan_replications(const struct sim_model *m, uint32_t usual);

/* How many runs a plan makes, with `points` models like its own. A study of
 * more than SIM_PLAN_MOST runs would take longer than anyone waits. */
enum { SIM_PLAN_MOST = 2000000 };
uint64_t sim_plan_runs(const struct sim_plan *plan, uint64_t points);

/* Runs the plan. When its progress function says stop, the finished runs count,
 * and cut_short is set. Never NULL. */
struct sim_summary *sim_replicate(const struct sim_plan *plan);

#endif
