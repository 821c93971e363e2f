/* Summaries: what the replications of a plan (plan.h) say together.
 *
 *     const struct sim_interval *i = &s->variants[0].figure[SIM_FIG_RECOVER];
 *     printf("%g s, %g to %g\n", i->mean, i->low, i->high);
 *
 * Threads: owned. */
#ifndef BIDE_SIM_STUDY_SUMMARY_H
#define BIDE_SIM_STUDY_SUMMARY_H

#include "sim/world/result.h"

/* A figure over replications: its mean and the 95 % confidence interval of the
 * mean (Student's t; low = high = mean if there was only one). Infinite values
 * (never recovered) are left out of the mean and counted. Of SIM_FIG_STUCK, a
 * share of the runs, it is Wilson's: none in ten does not mean never. */
struct sim_interval {
    double mean, low, high, least, most;
    uint32_t n; /* that it is the mean of; 0: nothing to say, NaN */
    uint32_t infinite;
};

struct sim_variant_summary {
    const char *name; /* of the variant; "" if there are none */
    struct sim_interval figure[SIM_FIGURES];
    struct sim_result *first; /* replication 0, whole: for pictures; never
                               * NULL */
    double *mean[2];          /* over replications, of the fleets together,
                               * [0] attempts and [1] successes per step */
    uint32_t n;               /* replications that were finished; 0 if it
                               * was stopped before: then the figures are
                               * those of what `first` came to */
};

struct sim_summary {
    const struct sim_model *model;
    uint64_t seed;
    uint32_t replications;
    bool cut_short;
    uint64_t events;
    double took_s; /* of wall-clock time: the caller sets it */
    struct sim_variant_summary *variants; /* at least one */
    uint32_t n_variants;
};

void sim_summary_free(struct sim_summary *s);

/* The interval of figure f over n values, in the order they are given. */
struct sim_interval sim_interval_of(enum sim_figure f, const double *values,
                                    uint32_t n);

/* The one number that a question is answered by: the mean; infinite if any of
 * the values was; NaN if there is none. */
double sim_interval_value(const struct sim_interval *i);

#endif
