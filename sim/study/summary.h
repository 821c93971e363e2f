/* Replications: one model run with many seeds on all cores, and what they say
 * together.
 *
 *     struct sim_plan plan = { .model = m, .replications = 20, .threads = 0 };
 *     struct sim_summary *s = sim_replicate(&plan);
 *     const struct sim_interval *i = &s->variants[0].figure[SIM_FIG_RECOVER];
 *     printf("%g s, %g to %g\n", i->mean, i->low, i->high);
 *     sim_summary_free(s);
 *
 * Replication k of every variant has the seed `plan.seed + k`, and so the same
 * luck. The result does not depend on the number of threads. Threads: owned. */
#ifndef BIDE_SIM_STUDY_SUMMARY_H
#define BIDE_SIM_STUDY_SUMMARY_H

#include "sim/world/result.h"
#include "sim/world/stage.h"

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

struct sim_plan {
    const struct sim_model *model;
    uint64_t seed;
    uint32_t replications;     /* at least 1 */
    uint32_t threads;          /* 0: one for each core */
    struct sim_run_conf watch; /* its progress is of the whole plan */
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

/* Runs it all. When the plan's progress says stop, what is finished counts, and
 * cut_short is set. Never NULL. */
struct sim_summary *sim_replicate(const struct sim_plan *plan);
void sim_summary_free(struct sim_summary *s);

/* The interval of figure f over n values, in the order they are given. */
struct sim_interval sim_interval_of(enum sim_figure f, const double *values,
                                    uint32_t n);

/* The one number that a question is answered by: the mean; infinite if any of
 * the values was; NaN if there is none. */
double sim_interval_value(const struct sim_interval *i);

/* ===== figures for people ===== */

enum sim_unit {
    SIM_PER_SECOND, /* 280/s, 1.24k/s */
    SIM_SHARE,      /* 0..1: 12.5% */
    SIM_SECONDS,    /* 412ms, 3.1s, never */
    SIM_TIMES,      /* 1.21x */
    SIM_COUNT       /* 17 */
};

enum sim_unit sim_figure_unit(enum sim_figure f);

/* 1: more is better; -1: less is; 0: neither is by itself. */
int sim_figure_better(enum sim_figure f);

/* By its name, or SIM_FIGURES if there is none of that name. */
enum sim_figure sim_figure_find(const char *name, size_t len);

/* A value with its unit, to three digits: "1.21x", "412ms", "99.3%", "never",
 * "-" for NaN. And an interval: "412 \u00b112ms" (without utf8 "+-"), "4.1s, 3
 * never". In `buffer`, which SIM_TEXT bytes are enough for. */
#define SIM_TEXT 48
const char *sim_figure_text(enum sim_figure f, double x, char *buffer,
                            size_t size);
const char *sim_interval_text(enum sim_figure f, const struct sim_interval *i,
                              bool utf8, char *buffer, size_t size);

#endif
