/* The requests sent to each address of an upstream. Upstreams that share an
 * address share its counts. */
#include "proxy/back/request_counts.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/back/endpoint.h"
#include "proxy/back/upstream.h"

struct request_counts *request_counts_new(unsigned n_workers)
{
    size_t size = sizeof(struct request_counts) +
                  n_workers * sizeof((struct request_counts *)0)->of[0];
    struct request_counts *t = aligned_alloc(64, size);
    if (!t)
        return NULL;
    memset(t, 0, size);
    atomic_init(&t->refs, 1);
    return t;
}

struct request_sums request_counts_sum(const struct request_counts *t,
                                       unsigned n_workers)
{
    struct request_sums sums = { 0, 0, 0 };
    for (unsigned w = 0; w < n_workers; w++) {
        sums.requests += counted(&t->of[w].requests);
        sums.retries += counted(&t->of[w].retries);
        sums.failures += counted(&t->of[w].failures);
    }
    return sums;
}

/* That of the first endpoint with this address; NULL: there is none. */
static struct request_counts *find(const struct upstream *u,
                                   const char *authority)
{
    for (unsigned i = 0; i < u->n_endpoints; i++) {
        const struct endpoint *e = &u->endpoints[i];
        if (e->counts && strcmp(e->authority, authority) == 0) {
            atomic_fetch_add(&e->counts->refs, 1);
            return e->counts;
        }
    }
    return NULL;
}

struct request_counts *request_counts_get(const struct upstream *u,
                                          const char *authority)
{
    struct request_counts *t = authority ? find(u, authority) : NULL;
    return t ? t : request_counts_new(u->n_workers);
}

void request_counts_unref(struct request_counts *t)
{
    if (t && atomic_fetch_sub(&t->refs, 1) == 1)
        free(t);
}

void upstream_count_on(struct upstream *u, const struct upstream *from)
{
    for (unsigned i = 0; i < u->n_endpoints; i++) {
        struct request_counts *t = find(from, u->endpoints[i].authority);
        if (t) {
            request_counts_unref(u->endpoints[i].counts);
            u->endpoints[i].counts = t;
        }
    }
}
