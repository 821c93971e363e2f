/* Recovery: whether a run has recovered from its last fault, and when.
 *
 *     struct sim_result *r = sim_run_judged(model, variant, seed, &run_conf);
 *     double seconds = r->figure[SIM_FIG_RECOVER];
 *
 * A run is compared with its twin: the same model, policies and seed, without
 * the faults. Both draw the same luck, so whatever noise there is without a
 * fault is in both. A run has recovered when it does as well as its twin, for
 * good. "As well" is two numbers, over the calls of all fleets:
 *
 *   failures   no more than those of the twin, and 1 % of its calls
 *   goodput    no less than 95 % of the twin's
 *
 * Some noise is left: after a fault the paths of the two may differ for long,
 * although none is worse. So the excess over what is allowed is added up, beat
 * by beat, from the end of the run backwards, never below zero (a CUSUM). It
 * drifts down while the run is as well as its twin; the run was worse where it
 * climbs above a threshold h. The end of that stretch, where the sum was last
 * zero, is the time of recovery: the usual estimate of a change point.
 *
 * The threshold: jumps of size c up and down at a rate of l a beat, and a drift
 * of k down, exceed h from any given beat with probability exp(-x h/c), where
 *
 *   2 l (cosh x - 1) = x k      (Cramer and Lundberg's exponent)
 *
 * so h = c/x ln(n / SIM_RECOVERY_ERROR) for n beats and tests together: a run
 * that is as well as its twin is called worse with a probability of about
 * SIM_RECOVERY_ERROR, however long it is watched. l and c come from the twin:
 * its failures (and one more) or, if clients wait for their answers and so make
 * other calls in the two runs, its successes; c is how much they cluster,
 * the greatest ratio of variance to mean over windows of 1, 2, 4 ... beats.
 * Fleets that come at a rate make the same calls in both runs: their goodput
 * differs by failures, and by what is in progress, so the threshold of goodput
 * is raised by twice the range of that in the twin. h is never below 2.5 calls.
 * A test that notices one percent notices an outage late: each is made with
 * three allowances, 1, 10 and 50 % of the calls (goodput: 5, 20 and 50 %), and
 * the first beat from which all of them are content counts.
 *
 * Never: the last tenth of the time watched (five beats at least) is not all
 * well. Fewer than five beats after the fault: unknown.
 *
 * Overloaded, and neither recovered nor stuck: the load is 100 % of what the
 * busiest service can serve, or more; or fewer than nine in ten calls of the
 * twin succeed while a service is busy for 98 % of its time. That is no
 * metastable state: the fault has nothing to do with it. Threads: owned. */
#ifndef BIDE_SIM_STUDY_RECOVERY_H
#define BIDE_SIM_STUDY_RECOVERY_H

#include "sim/world/stage.h"

#define SIM_RECOVERY_ERROR 0.001

/* What is needed of the run without faults. Threads: immutable. */
struct sim_twin {
    struct sim_beats beats;
    double success, utilisation;
    uint64_t events;
};

/* Runs a model without its faults, for so long. Its beats are as long as those
 * of a run of the model, unless the configuration sets them. NULL: cut
 * short. */
struct sim_twin *sim_twin_run(const struct sim_model *m, uint32_t variant,
                              uint64_t seed,
                              const struct sim_run_conf *run_conf,
                              int64_t duration_ns);
void sim_twin_free(struct sim_twin *t);

/* Whether a model's load is too much for it, so that no twin is needed. */
bool sim_is_overloaded(const struct sim_model *m);

/* Sets the figures RECOVER, STUCK and OVERLOADED of a run that has a fault, and
 * how long it was watched. The twin has beats of the same length, and no fewer;
 * NULL if the model is overloaded. */
void sim_recovery_judge(struct sim_result *run, const struct sim_twin *twin);

/* Runs a model (as sim_run() does) and, if it has faults, its twin, and judges
 * it. Never NULL. */
struct sim_result *sim_run_judged(const struct sim_model *m, uint32_t variant,
                                  uint64_t seed,
                                  const struct sim_run_conf *run_conf);

#endif
