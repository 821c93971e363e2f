/* A sweep for machines, and for the report.
 *
 *     sim_csv_sweep(out, sweep);
 *     sim_page_sweep(sim_page_write, out, sweep, figures, 5, context);
 *
 * Threads: owned. */
#ifndef BIDE_SIM_REPORT_SWEEP_H
#define BIDE_SIM_REPORT_SWEEP_H

#include "base/json.h"
#include "sim/report/page.h"
#include "sim/study/sweep.h"

/* The members of an object that sim_json_begin() began. */
void sim_json_sweep(struct bide__json *j, const struct sim_sweep *s);

/* A row for each point, variant and figure. */
void sim_csv_sweep(FILE *out, const struct sim_sweep *s);

/* The report or the picture, with a grid for each of these figures and each variant,
 * everything else from `ctx`. 0, or -1 if `out` could not be written. */
int sim_page_sweep(sim_page_writer *write, FILE *out, const struct sim_sweep *s,
                   const enum sim_figure *figures, uint32_t n,
                   struct sim_page_context ctx);

#endif
