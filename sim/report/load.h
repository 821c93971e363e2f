/* Load against capacity: the first picture of a report, and the only one of
 * --svg.
 *
 *     struct page_load load;
 *     page_load_of(&load, summary->model, page_short_tier(summary));
 *     page_row(p, &load.row);
 *
 * Threads: owned. */
#ifndef BIDE_SIM_REPORT_LOAD_H
#define BIDE_SIM_REPORT_LOAD_H

#include "sim/report/plot/sheet.h"

struct page;

/* A row and what it is made of; `row` points into the rest. */
struct page_load {
    struct page_layer layers[4];
    char title[200];
    struct page_row row;
};

/* The service whose capacity is exceeded most, in any variant; if none is, the
 * one where retries have multiplied most. SIM_NONE: it is the only one that
 * clients call, there is no such service, or different models are compared. */
uint32_t page_short_tier(const struct sim_summary *s);

/* The load of a service and the calls that succeed; SIM_NONE: the attempts of
 * the clients, and the capacity of what they call. */
void page_load_of(struct page_load *l, const struct sim_model *m,
                  uint32_t service);

/* The tier that is short, with the figures of each variant below its plot; and,
 * further down the page, the other tiers. */
void page_load_first(struct page *p);
void page_loads(struct page *p);
void page_work(struct page *p); /* goodput, work, queue (work.c) */

#endif
