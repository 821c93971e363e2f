/* proxy/back/carried_totals.h: totals that a service carries over from the one
 * it replaced, so that counters do not decrease at a reload. */
#ifndef BIDE_PROXY_BACK_CARRIED_TOTALS_H
#define BIDE_PROXY_BACK_CARRIED_TOTALS_H

#include <stdbool.h>
#include <stddef.h>

#include "bide/bide.h"

struct generation;
struct service;

/* What a service continues, as observers see it: a new dependency has not
 * counted anything yet. Threads: immutable, except for what is inside prior. */
struct carried_totals {
    struct service *prior; /* which it replaced; or NULL */
    bide_stats *before;    /* totals of those before that; or NULL */
};

/* Fills in what service `i` carries over. False: no memory. */
bool carried_totals_init(struct generation *g, size_t i,
                         const struct generation *old);
void carried_totals_done(struct carried_totals *l);

#endif
