/* The results of a simulation as CSV (RFC 4180), one table per file.
 *
 *     sim_csv_figures(out, summary);
 *
 * Errors stay in the stream. Threads: owned. */
#ifndef BIDE_SIM_REPORT_CSV_H
#define BIDE_SIM_REPORT_CSV_H

#include <stdio.h>

#include "sim/study/summary.h"

/* A field: quoted if necessary; empty for NaN, as in spreadsheets. */
void sim_csv_text(FILE *out, const char *text);
void sim_csv_number(FILE *out, double x);

/* A row for each variant and figure; and for each step of the first
 * replication, of each caller and each service. */
void sim_csv_figures(FILE *out, const struct sim_summary *s);
void sim_csv_callers(FILE *out, const struct sim_summary *s);
void sim_csv_services(FILE *out, const struct sim_summary *s);

/* A row for each step of a series, over the seeds: the median, and what nine in
 * ten are above and below. */
void sim_csv_bands(FILE *out, const struct sim_summary *s);

#endif
