/* The requests sent to each address of an upstream. Upstreams that share an
 * address share its counts. */
#include "proxy/back/endpoint_counts.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/back/endpoint.h"
#include "proxy/back/upstream.h"

static struct endpoint_counts *tally_new(unsigned n_workers)
{
    size_t size = sizeof(struct endpoint_counts) +
                  n_workers * sizeof((struct endpoint_counts *)0)->of[0];
    struct endpoint_counts *t = aligned_alloc(64, size);
    if (!t)
        return NULL;
    memset(t, 0, size);
    atomic_init(&t->refs, 1);
    return t;
}

/* That of the first endpoint with this address; NULL: there is none. */
static struct endpoint_counts *find(const struct upstream *u,
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

struct endpoint_counts *endpoint_counts_get(const struct upstream *u,
                                            const char *authority)
{
    struct endpoint_counts *t = authority ? find(u, authority) : NULL;
    return t ? t : tally_new(u->n_workers);
}

void endpoint_counts_unref(struct endpoint_counts *t)
{
    if (t && atomic_fetch_sub(&t->refs, 1) == 1)
        free(t);
}

void upstream_count_on(struct upstream *u, const struct upstream *from)
{
    for (unsigned i = 0; i < u->n_endpoints; i++) {
        struct endpoint_counts *t = find(from, u->endpoints[i].authority);
        if (t) {
            endpoint_counts_unref(u->endpoints[i].counts);
            u->endpoints[i].counts = t;
        }
    }
}
