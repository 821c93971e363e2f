/* The map of load against the length of a fault, for machines and for the report.
 *
 *     sim_csv_stability(out, map);
 *     sim_page_stability(sim_page_write, out, map, &loads, &triggers, context);
 *
 * Threads: owned. */
#ifndef BIDE_SIM_REPORT_STABILITY_H
#define BIDE_SIM_REPORT_STABILITY_H

#include "base/json.h"
#include "sim/report/page.h"
#include "sim/study/axis.h"

/* The members of an object that sim_json_begin() began. */
void sim_json_stability(struct bide__json *j, const struct sim_stability *s);

/* A row for each variant and cell. */
void sim_csv_stability(FILE *out, const struct sim_stability *s);

/* The report or the picture, with a map for each variant; the axes as displayed, everything
 * else from `ctx`. 0, or -1 if `out` could not be written. */
int sim_page_stability(sim_page_writer *write, FILE *out,
                       const struct sim_stability *s,
                       const struct sim_axis *loads,
                       const struct sim_axis *triggers,
                       struct sim_page_context ctx);

#endif
