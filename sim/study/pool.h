/* Many runs on all cores: jobs by number, taken in order by as many threads as
 * there are.
 *
 *     struct sim_pool pool = { .n_jobs = 60, .self = &me, .job = what_to_run,
 *                              .take = keep_what_came };
 *     bool whole = sim_pool_run(&pool, &events);
 *
 * Which thread runs a job changes nothing of what it gives: a run depends on
 * model, variant and seed alone. One run is never spread over threads.
 * Threads: owned; `job` and `take` are called by several at once, each for
 * another number. */
#ifndef BIDE_SIM_STUDY_POOL_H
#define BIDE_SIM_STUDY_POOL_H

#include "sim/world/stage.h"

struct sim_job {
    const struct sim_model *model;
    uint32_t variant; /* or SIM_NONE */
    uint64_t seed;
    uint32_t samples; /* clients whose attempts are kept, as in sim_run_conf */
};

struct sim_pool {
    uint32_t n_jobs;
    uint32_t threads;          /* 0: one for each core */
    struct sim_run_conf run_conf; /* its progress is that of all jobs together, and
                             * called by one thread at a time; samples are as
                             * each job says */
    void *self;                /* of ... */
    void (*job)(void *self, uint32_t n, struct sim_job *ret);
    /* ... who gets the result, to keep or to free. It may be cut short. */
    void (*take)(void *self, uint32_t n, struct sim_result *r);
};

/* Runs them all; false if progress said stop, and then the jobs that had not
 * begun were never taken. */
bool sim_pool_run(const struct sim_pool *pool, uint64_t *ret_events);

#endif
