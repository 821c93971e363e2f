/* Many runs on all cores: jobs have numbers, and threads take them in order.
 *
 *     struct sim_pool pool = { .n_jobs = 60, .self = &me, .job = what_to_run,
 *                              .take = keep_what_came };
 *     bool whole = sim_pool_run(&pool, &events);
 *
 * The result of a job does not depend on the thread that runs it: a run depends
 * only on model, variant and seed. One run is never spread over threads.
 * Threads: owned; several threads call `job` and `take` at once, each for
 * another job. */
#ifndef BIDE_SIM_STUDY_POOL_H
#define BIDE_SIM_STUDY_POOL_H

#include "sim/world/stage.h"

struct sim_job {
    const struct sim_model *model;
    uint32_t variant; /* or SIM_NONE */
    uint64_t seed;
    uint32_t samples; /* clients whose attempts are kept, as in sim_run_conf */
    uint32_t twin;    /* number of the run without faults that it is compared
                       * with (twins.h); for models that are the same without
                       * their faults, variant and seed included, it is the
                       * same */
    int64_t twin_duration_ns; /* of that; 0: the model's own */
};

struct sim_pool {
    uint32_t n_jobs;
    uint32_t n_twins;          /* numbers of twins; 0: nothing is compared */
    uint32_t threads;          /* 0: one for each core */
    struct sim_run_conf run_conf; /* its progress is that of all jobs together,
                             * called by one thread at a time; each job sets
                             * its own samples */
    void *self;                /* passed to the functions below */
    void (*job)(void *self, uint32_t n, struct sim_job *ret);
    /* Gets the result, judged (recovery.h), to keep or to free. It may be cut
     * short. */
    void (*take)(void *self, uint32_t n, struct sim_result *r);
};

/* Runs all jobs; false if progress said stop: then jobs that had not begun were
 * skipped. */
bool sim_pool_run(const struct sim_pool *pool, uint64_t *ret_events);

#endif
