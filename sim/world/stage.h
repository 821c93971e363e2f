/* A run: a model made into a world, and run once.
 *
 *     struct sim_run_conf run_conf = { .samples = 12 };
 *     struct sim_result *r = sim_run(model, SIM_NONE, seed, &run_conf);
 *
 * The same model, variant and seed give the same result on every machine.
 * Threads: a run is one thread's; several threads may run one model at once. */
#ifndef BIDE_SIM_WORLD_STAGE_H
#define BIDE_SIM_WORLD_STAGE_H

#include "sim/world/result.h"

/* The length of the beats of a run of that duration, unless it is set. */
int64_t sim_beat_length(int64_t duration_ns);

/* Whether two variants are the same, whatever they are called (world_build.c). */
bool sim_same_variant(const struct sim_model *m, uint32_t a, uint32_t b);

struct sim_run_conf {
    uint32_t steps;   /* of the time series; 0: about 300, whole milliseconds */
    uint32_t samples; /* clients of each fleet whose attempts are kept */
    int64_t beat_ns;  /* of the result's beats; 0: as result.h says */
    void *self;       /* of ... */
    /* ... progress, which is called now and then with how far it is (0..1);
     * false: stop here, and return the results so far. Or NULL. */
    bool (*progress)(void *self, double done, uint64_t events);
};

/* Runs it. The model must be valid (scenario.h ensures that; for one made by
 * hand, call sim_model_check). Never NULL. */
struct sim_result *sim_run(const struct sim_model *m, uint32_t variant,
                           uint64_t seed, const struct sim_run_conf *run_conf);

#endif
