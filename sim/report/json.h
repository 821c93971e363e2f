/* The results of a simulation as JSON: the parts that a run, a sweep and a
 * stability map share.
 *
 *     struct bide__json j;
 *     sim_json_begin(&j, stdout, &head);
 *     sim_json_variants(&j, summary);
 *     bide__json_end(&j);
 *     bide__json_done(&j);
 *
 * Threads: owned. */
#ifndef BIDE_SIM_REPORT_JSON_H
#define BIDE_SIM_REPORT_JSON_H

#include "base/json.h"
#include "sim/study/summary.h"

/* The beginning of each document. */
struct sim_json_head {
    const char *command;  /* that reproduces it */
    const char *scenario; /* as the user named it */
    const struct sim_model *model;
    uint64_t seed;
    uint32_t replications;
};

void sim_json_begin(struct bide__json *j, FILE *out,
                    const struct sim_json_head *head);

/* The member `figures`, of SIM_FIGURES intervals; and the variants of a run. */
void sim_json_figures(struct bide__json *j, const struct sim_interval *figures);
void sim_json_variants(struct bide__json *j, const struct sim_summary *s);

#endif
