/* Assertions: what a simulation must show, for --assert and CI.
 *
 *     struct sim_assert *a;
 *     struct sim_fuss fuss;
 *     if (sim_assert_parse(&a, "p99 < 1s && recover < 5s", &fuss) < 0)
 *         die(fuss.message);                   // about the text at fuss.at
 *     sim_assert_bind(a, names_of_variants, n, &fuss);
 *     enum sim_verdict v = sim_assert_judge(a, figures, variant);
 *     sim_assert_free(a);
 *
 *   either  := both { "||" both }
 *   both    := single { "&&" single }
 *   single  := "!" single | "(" either ")" | side COMPARES side
 *   side    := [VARIANT "."] FIGURE | NUMBER
 *   COMPARES: < <= > >= == !=
 *
 * A number has the unit of the figure that it is compared with: 5s, 300ms, 1.2,
 * 20%, 100/s, or `never`. A variant whose name is more than letters, digits,
 * `-` and `_` stands in quotes, '...' or "...". A figure without a variant is
 * that of each variant in turn. Means are compared; a figure that was infinite
 * in any run is infinite, and one that says nothing leaves its comparison
 * unknown. Threads: immutable, once parsed. */
#ifndef BIDE_SIM_STUDY_ASSERT_H
#define BIDE_SIM_STUDY_ASSERT_H

#include "sim/study/axis.h"
#include "sim/study/summary.h"

struct sim_assert;

enum sim_verdict {
    SIM_FAILS,
    SIM_UNKNOWN, /* a figure has nothing to say: as good as failing */
    SIM_HOLDS
};

/* 0, or -1 and *ret_fuss. */
int sim_assert_parse(struct sim_assert **ret, const char *text,
                     struct sim_fuss *ret_fuss);
void sim_assert_free(struct sim_assert *a);

/* Finds the variants that it names among these; -1 and *ret_fuss if there is
 * one that is not there. To be done before it is judged. */
int sim_assert_bind(struct sim_assert *a, const char *const *names, uint32_t n,
                    struct sim_fuss *ret_fuss);

/* Whether it names a variant wherever it names a figure: then there is one
 * answer and not one for each variant. */
bool sim_assert_named(const struct sim_assert *a);

/* `figures` holds the SIM_FIGURES intervals of each variant, one after the
 * other; `variant` is whose are meant where none is named. */
enum sim_verdict sim_assert_judge(const struct sim_assert *a,
                                  const struct sim_interval *figures,
                                  uint32_t variant);

/* The figures that it is about, in order and each once: variant and figure of
 * the n-th, false if there are not so many. */
bool sim_assert_figure(const struct sim_assert *a, uint32_t n, uint32_t variant,
                       uint32_t *ret_variant, enum sim_figure *ret_figure);

#endif
