/* How callers and services stood at a moment, and the fleets beat by beat. */
#ifndef BIDE_SIM_WORLD_RECORD_MOMENT_H
#define BIDE_SIM_WORLD_RECORD_MOMENT_H

#include <stdint.h>

#include "sim/world/histogram.h"
#include "sim/world/result.h"
#include "sim/world/service.h"
#include "sim/world/world_build.h"

struct sim_record;

/* The state of callers and services at a moment. */
struct sim_moment {
    struct sim_caller_totals *callers;
    struct sim_histogram *latency;       /* of each caller */
    struct sim_service_result *services; /* totals only */
    double *capacity;
};

/* record_moment.c: records a moment, ... */
void sim_moment_init(struct sim_moment *m, const struct sim_build *c);
void sim_moment_take(struct sim_moment *m, const struct sim_build *c,
                     int64_t now);
void sim_moment_done(struct sim_moment *m);
struct sim_service_result sim_service_totals(const struct sim_service *s);

/* ... and a beat. */
void sim_beats_init(struct sim_beats *b, int64_t duration_ns,
                    int64_t length_ns);
void sim_beats_note(struct sim_record *rec);

#endif
