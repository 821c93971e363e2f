/* Summaries: the results of all replications of a plan (plan.h).
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
 * (never recovered) are left out of the mean and counted. For SIM_FIG_STUCK, a
 * share of the runs, it is Wilson's interval: none in ten does not mean
 * never. */
struct sim_interval {
    double mean, low, high, least, most;
    uint32_t n; /* values in the mean; 0: none, and the mean is NaN */
    uint32_t infinite;
};

struct sim_variant_summary {
    const char *name; /* of the variant; "" if there are none */
    struct sim_interval figure[SIM_FIGURES];
    struct sim_result *first; /* replication 0, complete, for charts; never
                               * NULL */
    double *mean[2];          /* over replications, of the fleets together,
                               * [0] attempts and [1] successes per step */
    uint32_t n;               /* finished replications; 0 if it was stopped
                               * before: then the figures are those of
                               * `first` as far as it got */
};

struct sim_summary {
    const struct sim_model *model;
    uint64_t seed;
    uint32_t replications;
    bool cut_short;
    uint64_t events;
    double took_s; /* wall-clock time; the caller sets it */
    struct sim_variant_summary *variants; /* at least one */
    uint32_t n_variants;
};

void sim_summary_free(struct sim_summary *s);

/* The interval of figure f over n values. */
struct sim_interval sim_interval_of(enum sim_figure f, const double *values,
                                    uint32_t n);

/* A single number for comparisons: the mean; infinite if any of the values was;
 * NaN if there is none. */
double sim_interval_value(const struct sim_interval *i);

#endif
