/* Recording: what a run shows, written down at the ends of its steps.
 *
 *     struct sim_record rec;
 *     sim_record_init(&rec, &cast, result);
 *     while (now < duration) {
 *         now = sim_record_next(&rec, now);
 *         sim_world_run(&cast.world, now - 1);
 *         sim_record_at(&rec, now);
 *     }
 *     sim_record_end(&rec, now);
 *     sim_record_done(&rec);
 *
 * Nothing is done for it while calls are made: callers and services only have
 * totals, and a step is the difference of two moments. So a run is the same
 * however it is watched. Threads: owned. */
#ifndef BIDE_SIM_WORLD_RECORD_H
#define BIDE_SIM_WORLD_RECORD_H

#include "sim/world/world_build.h"

/* How callers and services stood at a moment. */
struct sim_moment {
    struct sim_caller_totals *callers;
    struct sim_histogram *latency;       /* of each caller */
    struct sim_service_result *services; /* totals only */
    double *capacity;
};

/* The fleets together, beat by beat (see result.h). */
struct sim_beats {
    int64_t length_ns;
    uint32_t n;        /* so far */
    uint64_t *ended;   /* calls */
    uint64_t *good;    /* of those, successes */
    uint64_t *arrived; /* requests at the services that fleets call */
};

struct sim_record {
    struct sim_cast *cast;
    struct sim_result *result;
    uint32_t step;          /* the one that runs */
    struct sim_moment last; /* end of the step before */
    struct sim_moment warm; /* end of the warm-up */
    struct sim_beats beats;
    struct sim_histogram scratch;
};

/* The result must know its model, variant, step_ns and n_steps. */
void sim_record_init(struct sim_record *rec, struct sim_cast *cast,
                     struct sim_result *result);

/* The next time that something is to be written down. */
int64_t sim_record_next(const struct sim_record *rec, int64_t now);

/* Writes down what is due at this time. */
void sim_record_at(struct sim_record *rec, int64_t now);

/* The run is over: totals, marks and figures. */
void sim_record_end(struct sim_record *rec, int64_t now);
void sim_record_done(struct sim_record *rec);

/* record_series.c: one step of all callers and services. */
void sim_record_step(struct sim_record *rec, int64_t now);

/* record_moment.c: takes a moment down, ... */
void sim_moment_init(struct sim_moment *m, const struct sim_cast *c);
void sim_moment_take(struct sim_moment *m, const struct sim_cast *c,
                     int64_t now);
void sim_moment_done(struct sim_moment *m);
struct sim_service_result sim_service_totals(const struct sim_service *s);

/* ... and a beat. */
void sim_beats_init(struct sim_beats *b, int64_t duration_ns);
void sim_beats_note(struct sim_record *rec);
void sim_beats_done(struct sim_beats *b);

/* figures.c and recovery.c */
void sim_figures(struct sim_record *rec);
double sim_recovery(const struct sim_record *rec, int64_t now);

#endif
