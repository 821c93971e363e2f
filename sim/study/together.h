/* Several scenarios side by side: one summary of all their variants.
 *
 *     struct sim_together t = { 0 };
 *     sim_together_add(&t, "herd", sim_replicate(&first));
 *     sim_together_add(&t, "storm", sim_replicate(&second));
 *     sim_together_index(&t);
 *     puts(t.all.variants[0].name);   // "herd: naive"
 *     sim_together_done(&t);
 *
 * Threads: owned. */
#ifndef BIDE_SIM_STUDY_TOGETHER_H
#define BIDE_SIM_STUDY_TOGETHER_H

#include "sim/study/summary.h"

struct sim_together {
    struct sim_summary all;       /* its variants are those of the parts */
    const char **names;           /* of the variants; set by _index() */
    struct sim_interval *figures; /* by variant; set by _index() */
    struct sim_summary **parts;   /* what was added */
    char **joined;                /* names that were composed */
    uint32_t n_parts, n_joined, room_parts, room_joined;
};

/* Adds the summary of a scenario and takes ownership of it. The name of the
 * scenario is put before those of its variants; NULL: this is the only
 * scenario. */
void sim_together_add(struct sim_together *t, const char *scenario,
                      struct sim_summary *part);

/* Call when all have been added: lists names and figures. */
void sim_together_index(struct sim_together *t);

/* "scenario: variant", or "scenario" if the variant has no name. */
const char *sim_together_name(struct sim_together *t, const char *scenario,
                              const char *variant);

void sim_together_done(struct sim_together *t);

#endif
