/* What is drawn: values over time, of callers (curves.c) and services
 * (services.c). */
#ifndef BIDE_SIM_REPORT_PLOT_CURVES_H
#define BIDE_SIM_REPORT_PLOT_CURVES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/report/plot/scale.h"
#include "sim/world/result.h"

/* Fills y[r->n_steps]; false: there is no such series. */
typedef bool page_get(const struct sim_result *r, uint32_t what, double *y);

page_get page_of_fleets;       /* a channel of all fleets together, a second */
page_get page_level_of_fleets; /* the same, an absolute number */
page_get page_first_attempts;  /* attempts that are neither retry nor hedge */
page_get page_capacity;        /* of the services that fleets call, a second */
page_get page_breakers; /* a channel: mean over processes of all callers */
page_get page_budget;
page_get page_p50; /* seconds */
page_get page_p99;
page_get page_oldest; /* how long the oldest message that is due has waited */
page_get page_reason;         /* calls that ended for it, a second */
page_get page_fleet_attempts; /* of fleet `what`, a second */
page_get page_fleet_goodput;
page_get page_queue;    /* of service `what` */
page_get page_arrivals; /* at service `what`, a second */

/* What service `what` finished while the caller waited, a second: successfully,
 * and with an error. */
page_get page_useful, page_erroneous;

/* A channel of a service, a second: what = service * 16 + channel. */
page_get page_of_service;
#define PAGE_OF(service, channel) ((service)*16 + (uint32_t)(channel))

/* Whether a fleet calls this service itself. */
bool page_is_front(const struct sim_model *m, uint32_t service);

/* The run of a variant; NULL if there is none to draw. */
const struct sim_result *page_run(const struct sim_summary *s, uint32_t v);

/* With no more points than fit in a plot; of one run. y is NULL if there is
 * nothing. */
struct page_curve page_curve(const struct sim_result *r, page_get *get,
                             uint32_t what, uint32_t points);
void page_curve_done(struct page_curve *c);

#endif
