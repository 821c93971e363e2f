/* The time series of a variant as bands over its seeds, for JSON and CSV.
 *
 *     static void show(void *self, const struct sim_band *b) { ... }
 *     sim_bands(summary, variant, show, self);
 *
 * Threads: owned. */
#ifndef BIDE_SIM_REPORT_BANDS_H
#define BIDE_SIM_REPORT_BANDS_H

#include "sim/report/plot/curves.h"
#include "sim/study/summary.h"

struct sim_band {
    const char *of;          /* "clients", or the name of a service */
    const char *series;      /* "attempts" ... */
    const char *unit;        /* "per_second" or "count" */
    struct page_curve curve; /* low and high are never NULL */
    uint32_t runs;           /* how many it is of */
};

/* Calls `show` for each series: those of all fleets together, then those of
 * each service. */
void sim_bands(const struct sim_summary *s, uint32_t v,
               void (*show)(void *self, const struct sim_band *band),
               void *self);

#endif
