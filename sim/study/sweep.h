/* Sweeps: runs a model with many values of one or two settings.
 *
 *     struct sim_sweep *s;
 *     if (sim_sweep_new(&s, model, axes, 2, &fuss) < 0)
 *         die(fuss.message);
 *     sim_sweep_run(s, &plan);
 *     double p99_s = sim_sweep_at(s, x, y, variant)[SIM_FIG_P99].mean;
 *     sim_sweep_free(s);
 *
 * Every point has the same seeds, and so the same luck. The first replication
 * of all points runs before the second of any: if the user stops it, the map is
 * complete, though less precise. Threads: owned. */
#ifndef BIDE_SIM_STUDY_SWEEP_H
#define BIDE_SIM_STUDY_SWEEP_H

#include "sim/study/axis.h"
#include "sim/study/plan.h"
#include "sim/study/summary.h"

struct sim_sweep {
    const struct sim_model *model; /* must outlive it */
    const struct sim_axis *axes;   /* so must these: x, then y */
    uint32_t n_axes;
    struct sim_model **points; /* drafts, row by row */
    uint32_t n_points, n_variants;
    struct sim_interval *cells; /* [point][variant][figure]; n and infinite 0:
                                 * not run */
    uint32_t replications;
    uint64_t seed, events;
    bool cut_short;
};

enum { SIM_SWEEP_MOST = 10000 }; /* points */

/* Creates the models. -1 and *ret_fuss if a key is unknown, a value is invalid
 * or two values exclude each other; `at` is then the index of the axis, `len`
 * that of its value, or SIM_NONE for the key. */
int sim_sweep_new(struct sim_sweep **ret, const struct sim_model *m,
                  const struct sim_axis *axes, uint32_t n_axes,
                  struct sim_fuss *ret_fuss);

/* Runs it with the seed, replications, threads and run configuration of a
 * plan. */
void sim_sweep_run(struct sim_sweep *s, const struct sim_plan *plan);

/* SIM_FIGURES intervals. y is 0 if there is one axis. */
const struct sim_interval *sim_sweep_at(const struct sim_sweep *s, uint32_t x,
                                        uint32_t y, uint32_t variant);
void sim_sweep_free(struct sim_sweep *s);

#endif
