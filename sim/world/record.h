/* Recording: the result of a run, written at the ends of its steps.
 *
 *     struct sim_record rec;
 *     sim_record_init(&rec, &build, result);
 *     while (now < duration) {
 *         now = sim_record_next(&rec, now);
 *         sim_world_run(&build.world, now - 1);
 *         sim_record_at(&rec, now);
 *     }
 *     sim_record_end(&rec, now);
 *     sim_record_done(&rec);
 *
 * Recording does nothing while calls are made: callers and services only have
 * totals, and a step is the difference of two moments. So a run is the same
 * however it is recorded. Threads: owned. */
#ifndef BIDE_SIM_WORLD_RECORD_H
#define BIDE_SIM_WORLD_RECORD_H

#include "sim/world/record_moment.h"
#include "sim/world/world_build.h"

struct sim_record {
    struct sim_build *build;
    struct sim_result *result;
    uint32_t step;          /* the current one */
    struct sim_moment last; /* end of the step before */
    struct sim_moment warm; /* end of the warm-up */
    struct sim_histogram scratch;
};

/* The model, variant, step_ns and n_steps of the result must be set, and the
 * length of its beats. */
void sim_record_init(struct sim_record *rec, struct sim_build *build,
                     struct sim_result *result);

/* The next time at which something is due to be recorded. */
int64_t sim_record_next(const struct sim_record *rec, int64_t now);

/* Records what is due at this time. */
void sim_record_at(struct sim_record *rec, int64_t now);

/* The run is over: totals, marks and figures. */
void sim_record_end(struct sim_record *rec, int64_t now);
void sim_record_done(struct sim_record *rec);

/* record_series.c: one step of all callers and services. */
void sim_record_step(struct sim_record *rec, int64_t now);

#endif
