/* The twins of a study: each run without faults, made once for all that are
 * compared with it (recovery.h).
 *
 *     struct sim_twins *all = sim_twins_new(n);
 *     sim_twins_expect(all, i);                  // for each run that needs it
 *     const struct sim_twin *t = sim_twins_get(all, i, &job, &run_conf, &mine);
 *     sim_recovery_judge(run, t);
 *     sim_twins_leave(all, i);                   // as often as it was expected
 *     sim_twins_free(all);
 *
 * The first thread that asks for one runs it; others that ask meanwhile wait.
 * It is freed when the last one that expected it has left. Threads: shared. */
#ifndef BIDE_SIM_STUDY_TWINS_H
#define BIDE_SIM_STUDY_TWINS_H

#include "sim/study/pool.h"
#include "sim/study/recovery.h"

struct sim_twins;

struct sim_twins *sim_twins_new(uint32_t n);
void sim_twins_free(struct sim_twins *all);

/* Before any thread asks. */
void sim_twins_expect(struct sim_twins *all, uint32_t i);

/* Number i: the job without its faults. NULL if it was cut short. *ret_mine:
 * whether it was run by this call. */
const struct sim_twin *sim_twins_get(struct sim_twins *all, uint32_t i,
                                     const struct sim_job *job,
                                     const struct sim_run_conf *run_conf,
                                     bool *ret_mine);
void sim_twins_leave(struct sim_twins *all, uint32_t i);

#endif
