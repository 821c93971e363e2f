/* proxy/back/endpoint_counts.h: how many requests were sent to each address of
 * an upstream, and how many failed. */
#ifndef BIDE_PROXY_BACK_ENDPOINT_COUNTS_H
#define BIDE_PROXY_BACK_ENDPOINT_COUNTS_H

#include <stdatomic.h>

#include "proxy/counters.h"

struct upstream;

/* The requests that each worker sent to an address of an upstream. It outlives
 * the endpoint: when its upstream is changed, the next one continues the
 * counts. Threads: written by the worker that owns it, read by any. */
struct endpoint_counts {
    atomic_uint refs;
    struct {
        _Alignas(64) counter requests; /* attempts ever, of which ... */
        counter failures; /* ... this many count against it */
    } of[];
};

/* The counts of an address, with a reference to them: those of an endpoint of
 * `u` at the same address, or new ones. NULL: no memory. */
struct endpoint_counts *endpoint_counts_get(const struct upstream *u,
                                            const char *authority);
void endpoint_counts_unref(struct endpoint_counts *t); /* NULL is fine */

/* Lets an upstream that is not in use yet continue the counts of the one that
 * it replaces. */
void upstream_count_on(struct upstream *u, const struct upstream *from);

#endif
