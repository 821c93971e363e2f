/* proxy/back/carried_totals.h: totals that a service carries on from the one whose
 * place it took, so that counters do not go back at a reload. */
#ifndef BIDE_PROXY_BACK_CARRIED_TOTALS_H
#define BIDE_PROXY_BACK_CARRIED_TOTALS_H

#include <stdbool.h>
#include <stddef.h>

#include "bide/bide.h"

struct generation;
struct service;

/* What a service goes on from, in the eyes of those who watch: a dependency
 * that was made anew has not counted anything yet. Threads: immutable, but for
 * what is inside prior. */
struct carried_totals {
    struct service *prior; /* whose place it took; or NULL */
    bide_stats *before;    /* totals of those before that; or NULL */
};

/* Fills in what service `i` goes on from. False: no memory. */
bool carried_totals_init(struct generation *g, size_t i,
                         const struct generation *old);
void carried_totals_done(struct carried_totals *l);

#endif
