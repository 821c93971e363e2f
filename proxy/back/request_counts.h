/* proxy/back/request_counts.h: how many requests were sent to each address of an
 * upstream, how many of them were retries, and how many failed; and the same
 * for each route. */
#ifndef BIDE_PROXY_BACK_REQUEST_COUNTS_H
#define BIDE_PROXY_BACK_REQUEST_COUNTS_H

#include <stdatomic.h>

#include "proxy/counters.h"

struct upstream;

/* The requests that each worker sent to an address of an upstream, or by a
 * route. It outlives the endpoint: when its upstream is changed, the next one
 * continues the counts. Threads: written by the worker that owns it, read by
 * any. */
struct request_counts {
    atomic_uint refs;
    struct {
        _Alignas(64) counter requests; /* attempts ever (of a route: calls), */
        counter retries;               /* of which these were not the first, */
        counter failures;              /* and these count against it */
    } of[];
};

/* Sums over the workers. Threads: owned. */
struct request_sums {
    uint64_t requests, retries, failures;
};
struct request_sums request_counts_sum(const struct request_counts *t,
                                       unsigned n_workers);

/* All zero; NULL: no memory. */
struct request_counts *request_counts_new(unsigned n_workers);

/* The counts of an address, with a reference to them: those of an endpoint of
 * `u` at the same address, or new ones. NULL: no memory. */
struct request_counts *request_counts_get(const struct upstream *u,
                                          const char *authority);
void request_counts_unref(struct request_counts *t); /* NULL is fine */

/* Lets an upstream that is not in use yet continue the counts of the one that
 * it replaces. */
void upstream_count_on(struct upstream *u, const struct upstream *from);

#endif
