/* Stability: whether a system recovers from a hit, for various loads and
 * lengths of the hit.
 *
 *     struct sim_stability *s;
 *     const char *why = sim_stability_new(&s, model, loads, 12, lengths, 6);
 *     sim_stability_run(s, &plan);
 *     enum sim_fate fate =
 *         sim_stability_at(s, variant, load, length)->fate;
 *     sim_stability_free(s);
 *
 * A load of 1 is the most that the busiest service can serve: the rates of all
 * open fleets are scaled alike. The hit is the model's own faults, stretched to
 * the given length; if it has none, a full stop of the service that is called
 * first. After the hit the model has four times that length to recover, and at
 * least a minute. Runs that do not recover are repeated with as much time as
 * the model has after its faults, if that is longer.
 *
 * Whether a run has recovered is judged as everywhere (recovery.h): against the
 * same run without the hit, which all lengths of a hit share. A cell is
 * SIM_FATE_RECOVERS if all its runs have recovered in less than three times the
 * length of the hit, or 10 s; SIM_FATE_NEVER if none has; SIM_FATE_OVERLOADED if
 * the load is too much even without a hit; and otherwise SIM_FATE_VULNERABLE.
 * Threads: owned. */
#ifndef BIDE_SIM_STUDY_STABILITY_H
#define BIDE_SIM_STUDY_STABILITY_H

#include "sim/study/plan.h"

/* What happens to a system after a hit. */
enum sim_fate {
    SIM_FATE_UNKNOWN,    /* not run (yet) */
    SIM_FATE_RECOVERS,   /* every time, and soon */
    SIM_FATE_VULNERABLE, /* late, or not in every run */
    SIM_FATE_NEVER,      /* in none */
    SIM_FATE_OVERLOADED  /* it would not do without a hit either */
};

struct sim_cell {
    enum sim_fate fate;
    uint32_t stuck, runs; /* how many of how many had not recovered ... */
    uint32_t overloaded;  /* ... and how many could not have */
    double low, high;     /* 95 % interval of the share of stuck runs */
    double watched_s;     /* after the hit, before a run was given up */
    double recover_s;     /* mean of those that did; NaN: none */
};

struct sim_stability {
    const struct sim_model *model; /* must outlive it */
    double capacity;               /* calls per second at a load of 1 */
    double *loads;
    int64_t *lengths_ns;
    uint32_t n_loads, n_lengths, n_variants;
    struct sim_model **points;   /* drafts, [length][load] */
    struct sim_cell *cells;      /* [variant][length][load] */
    uint32_t seeds;
    uint64_t seed, events;
    bool cut_short;
};

/* NULL and the map, or the reason why there can be none. */
const char *sim_stability_new(struct sim_stability **ret,
                              const struct sim_model *m, const double *loads,
                              uint32_t n_loads, const int64_t *lengths_ns,
                              uint32_t n_lengths);

/* Runs it, once, with the seed, replications, threads and run configuration of
 * a plan. */
void sim_stability_run(struct sim_stability *s, const struct sim_plan *plan);

const struct sim_cell *sim_stability_at(const struct sim_stability *s,
                                        uint32_t variant, uint32_t load,
                                        uint32_t length);
void sim_stability_free(struct sim_stability *s);

/* "recovers", "vulnerable", "never", "unknown". */
const char *sim_fate_name(enum sim_fate fate);

/* The share of the busiest service's capacity that the open fleets use, without
 * any retry; 0 if nothing limits it. A worker that is held during calls to
 * other services counts as held for their mean time as well. */
double sim_utilisation(const struct sim_model *m);

#endif
