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
 * mean; low = high = mean if there was only one. It never leaves what is
 * possible, and where that is far away it is Student's interval, m +- t s:
 *
 *   shares   Wilson's interval, with t in place of z, of as many trials as give
 *            the observed s: m (1 - m) / s^2
 *   others   up to h = m + t s, as Student's, and down by the same factor, to
 *            m m/h, which is above 0
 *
 * For SIM_FIG_STUCK and SIM_FIG_OVERLOADED, shares of the runs, it is Wilson's
 * interval of the runs: none in ten does not mean never. Infinite values (never
 * recovered) are left out of the mean and counted, and so are those that are
 * negative infinite (overloaded). */
struct sim_interval {
    double mean, low, high, least, most;
    uint32_t n; /* values in the mean; 0: none, and the mean is NaN */
    uint32_t infinite, overloaded;
};

/* What a service did (result.h has the same of one run). */
struct sim_service_summary {
    struct sim_interval utilisation, queue_wait;
};

/* At most so many results are kept, for the bands of charts. */
enum { SIM_KEPT = 20 };

struct sim_variant_summary {
    const char *name; /* of the variant; "" if there are none */
    struct sim_interval figure[SIM_FIGURES];
    struct sim_interval *fleets;          /* SIM_FIGURES of each; or NULL */
    struct sim_service_summary *services; /* or NULL */
    struct sim_result *first; /* replication 0, complete, for charts; never
                               * NULL */
    struct sim_result **runs; /* the first replications that were finished, for
                               * bands: `first`, and up to SIM_KEPT - 1 more */
    uint32_t n_runs;
    double watched_s;         /* after the last fault; 0: there was none */
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

/* Wilson's 95 % interval of the share of k in n; 0 to 1 if n is 0. */
void sim_wilson(uint32_t k, uint32_t n, double *ret_low, double *ret_high);

/* Whether it is so asymmetric, near its bounds, that both ends must be told. */
bool sim_interval_is_lopsided(const struct sim_interval *i);

/* A single number for comparisons: the mean; infinite if any of the values was;
 * NaN if there is none, or if any run was overloaded. */
double sim_interval_value(const struct sim_interval *i);

#endif
