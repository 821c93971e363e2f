/* Assertions about the results of a simulation, for --assert and CI.
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
 * 20%, 100/s, or `never`. A variant whose name has other characters than
 * letters, digits, `-` and `_` must be quoted, '...' or "...". A figure without
 * a variant is that of each variant in turn. Means are compared; a figure that
 * was infinite in any run is infinite, and the result of a comparison with a
 * figure that has no value is unknown. Threads: immutable, once parsed. */
#ifndef BIDE_SIM_STUDY_ASSERT_H
#define BIDE_SIM_STUDY_ASSERT_H

#include "sim/study/axis.h"
#include "sim/study/summary.h"

struct sim_assert;

enum sim_verdict {
    SIM_FAILS,
    SIM_UNKNOWN, /* a figure has no value: counts as a failure */
    SIM_HOLDS
};

/* 0, or -1 and *ret_fuss. */
int sim_assert_parse(struct sim_assert **ret, const char *text,
                     struct sim_fuss *ret_fuss);
void sim_assert_free(struct sim_assert *a);

/* Looks up the variants that it names among these; -1 and *ret_fuss if one is
 * missing. Must be called before sim_assert_judge(). */
int sim_assert_bind(struct sim_assert *a, const char *const *names, uint32_t n,
                    struct sim_fuss *ret_fuss);

/* Whether every figure has a variant: then there is one verdict instead of one
 * for each variant. */
bool sim_assert_named(const struct sim_assert *a);

/* `figures` holds the SIM_FIGURES intervals of each variant, one after the
 * other; `variant` is used for figures that name none. */
enum sim_verdict sim_assert_judge(const struct sim_assert *a,
                                  const struct sim_interval *figures,
                                  uint32_t variant);

/* The figures that it uses, in order and each once: variant and figure of the
 * n-th; false if there are fewer. */
bool sim_assert_figure(const struct sim_assert *a, uint32_t n, uint32_t variant,
                       uint32_t *ret_variant, enum sim_figure *ret_figure);

#endif
