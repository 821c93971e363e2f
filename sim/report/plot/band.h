/* A curve over the seeds of a variant.
 *
 *     struct page_curve c = page_band(summary, v, page_queue, service, 160);
 *     ...
 *     page_curve_done(&c);
 *
 * Threads: owned. */
#ifndef BIDE_SIM_REPORT_PLOT_BAND_H
#define BIDE_SIM_REPORT_PLOT_BAND_H

#include "sim/report/plot/curves.h"
#include "sim/study/summary.h"

/* With no more points than fit in a plot. y is NULL if there is nothing; low and
 * high are NULL if there is only one seed. */
struct page_curve page_band(const struct sim_summary *s, uint32_t v,
                            page_get *get, uint32_t what, uint32_t points);

#endif
