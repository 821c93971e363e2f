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

struct request_counts;
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
    pthread_mutex_t lock;            /* protects `addresses` */
    struct net_addresses *addresses; /* NULL: none known (yet) */
    atomic_uint moves;        /* how often they changed; 0: none known yet */
    atomic_bool unknown;      /* its first lookup failed */
    _Atomic(const char *) distrust; /* why its certificate was not accepted, which
                                 was said; NULL: it was, or there was none yet */
    bide_dep *breaker;        /* NULL: never ejected */
    atomic_uint ejected_by;   /* bits of enum ejected_by; 0: it is in use */
    _Atomic(int64_t) back_ns; /* when it returned; 0: it was never ejected */
    struct pool *pools;       /* of each worker, ... */
    struct pool *others;      /* ... and those for the protocol that most of
                                 it is not asked in; or NULL */
    struct request_counts *counts;
};

/* Why an endpoint gets no requests. */
enum ejected_by {
    EJECTED_BY_BREAKER = 1, /* its own is open, or half-open */
    EJECTED_BY_HEALTH = 2,  /* its health checks fail */
    EJECTED_BY_SILENCE = 4  /* it accepts no connections (knock.h) */
};

/* ===== endpoint_address.c ===== */

/* Sets its addresses, ignoring ports. False: no memory; the old ones stay. */
bool endpoint_move(struct endpoint *e, const struct net_addresses *to);

/* Whether its name is being resolved for the first time. */
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

/* Ejects an endpoint for a reason, if another may be ejected; returns it to use
 * when the last reason is gone. */
bool endpoint_eject(struct endpoint *e, enum ejected_by why);
void endpoint_restore(struct endpoint *e, enum ejected_by why, int64_t now_ns);

/* Takes an endpoint out of use that accepts no connections; false if it was.
 * That is no judgement, so it takes none of max_ejected's places: if all are
 * out, one of them is tried all the same. It is back when it was found. */
bool endpoint_missed(struct endpoint *e);
void endpoint_found(struct endpoint *e, int64_t now_ns);

#endif
