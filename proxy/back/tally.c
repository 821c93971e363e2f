/* What the addresses of an upstream have been sent: one tally for each, shared
 * by whoever counts under that name. */
#include <stdlib.h>
#include <string.h>

#include "proxy/state.h"

static struct tally *tally_new(unsigned n_workers)
{
    size_t size =
        sizeof(struct tally) + n_workers * sizeof((struct tally *)0)->of[0];
    struct tally *t = aligned_alloc(64, size);
    if (!t)
        return NULL;
    memset(t, 0, size);
    atomic_init(&t->refs, 1);
    return t;
}

/* That of the first endpoint with this address; NULL: there is none. */
static struct tally *find(const struct upstream *u, const char *authority)
{
    for (unsigned i = 0; i < u->n_endpoints; i++) {
        const struct endpoint *e = &u->endpoints[i];
        if (e->tally && strcmp(e->authority, authority) == 0) {
            atomic_fetch_add(&e->tally->refs, 1);
            return e->tally;
        }
    }
    return NULL;
}

struct tally *tally_get(const struct upstream *u, const char *authority)
{
    struct tally *t = authority ? find(u, authority) : NULL;
    return t ? t : tally_new(u->n_workers);
}

void tally_unref(struct tally *t)
{
    if (t && atomic_fetch_sub(&t->refs, 1) == 1)
        free(t);
}

void upstream_count_on(struct upstream *u, const struct upstream *from)
{
    for (unsigned i = 0; i < u->n_endpoints; i++) {
        struct tally *t = find(from, u->endpoints[i].authority);
        if (t) {
            tally_unref(u->endpoints[i].tally);
            u->endpoints[i].tally = t;
        }
    }
}
