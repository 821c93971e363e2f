/* proxy/back/endpoint.h: one server of an upstream: where it is (its addresses,
 * endpoint_address.c), and whether it gets requests (ejection.c). */
#ifndef BIDE_PROXY_BACK_ENDPOINT_H
#define BIDE_PROXY_BACK_ENDPOINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bide/bide.h"
#include "net/address.h"

struct endpoint_counts;
struct net_addresses;
struct pool;
struct upstream;

/* One server. Threads: shared. */
struct endpoint {
    struct upstream *upstream;
    unsigned index;   /* in its upstream */
    char *url, *host; /* as configured */
    char *authority;  /* "host:port", for Host; no port if it is usual */
    uint16_t port;
    bool tls;
    pthread_mutex_t lock;            /* of `addresses` */
    struct net_addresses *addresses; /* NULL: none known (yet) */
    atomic_uint moves;        /* how often they changed; 0: none known yet */
    atomic_bool unknown;      /* its name was looked up, and in vain, before
                                 any was known */
    bide_dep *breaker;        /* NULL: never ejected */
    atomic_uint ejected_by;   /* bits of enum ejected_by; 0: it is in use */
    _Atomic(int64_t) back_ns; /* when it came back; 0: it was never out */
    struct pool *pools;       /* of each worker */
    struct endpoint_counts *counts;
};

/* Why an endpoint gets no requests. */
enum ejected_by {
    EJECTED_BY_BREAKER = 1, /* its own is open, or half-open */
    EJECTED_BY_HEALTH = 2   /* the checks fail */
};

/* ===== endpoint_address.c ===== */

/* Sets its addresses, ports aside. False: no memory; those it had stay. */
bool endpoint_move(struct endpoint *e, const struct net_addresses *to);

/* Whether its name is being looked up for the first time. */
static inline bool endpoint_is_pending(const struct endpoint *e)
{
    return atomic_load(&e->moves) == 0 && !atomic_load(&e->unknown);
}

/* One of its addresses, in turn; false: none is known (yet). */
bool endpoint_address(struct endpoint *e, unsigned turn,
                      struct net_address *ret);

/* Whether this is still one of them. */
bool endpoint_is_at(struct endpoint *e, const struct net_address *a);

/* ===== ejection.c ===== */

/* Puts an endpoint out for a reason, if so many may be out; takes it back when
 * the last reason has gone. */
bool endpoint_eject(struct endpoint *e, enum ejected_by why);
void endpoint_restore(struct endpoint *e, enum ejected_by why, int64_t now_ns);

#endif
