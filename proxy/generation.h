/* proxy/generation.h: what a configuration becomes when it runs: routes, upstreams,
 * endpoints, and the dependencies that the engine keeps for them.
 *
 *     struct generation *s = generation_new(conf, config, n_workers, &hooks, NULL, ...);
 *     const struct route *r = route_find(s, head, buf);
 *     ...
 *     struct generation *next = generation_new(new_conf, ..., s, ...);         // SIGHUP
 *     generation_unref(s);          // each worker, once nothing of it uses s
 *
 * A generation never changes; a reload makes another beside it. What did not change
 * between the two is the same object in both: an upstream whose settings are
 * the same keeps its endpoints, their connections and ejections; a route with
 * the same policy, to an upstream of the same name, keeps its dependency, and
 * with it breaker and budget.
 *
 * Two dependencies stand behind each attempt. That of the route (upstream and
 * policy) decides everything: retries, budget, hedges, breaker. That of the
 * endpoint has a breaker and nothing else: it decides which endpoints are out.
 */
#ifndef BIDE_PROXY_GENERATION_H
#define BIDE_PROXY_GENERATION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/address.h"
#include "bide/bide.h"
#include "proxy/counters.h"
#include "proxy/dep_memory.h"
#include "proxy/hooks.h"
#include "net/http1.h"
#include "config/proxy/conf.h"

struct net_addresses;
struct pool;
struct upstream;

enum { ENDPOINTS_MAX = 64 };

/* What an address of an upstream has been sent, by each worker. It outlives the
 * endpoint: when its upstream is changed, the next one counts on. Threads:
 * owned to write by the worker, shared to read. */
struct endpoint_counts {
    atomic_uint refs;
    struct {
        _Alignas(64) counter requests; /* attempts ever, of which ... */
        counter failures; /* ... so many are to be held against it */
    } of[];
};

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

/* A service: endpoints that are as good as each other. Threads: shared. */
struct upstream {
    atomic_uint refs; /* states that it is in */
    char *name;
    struct bide__proxy_upstream conf; /* strings and arrays are its own */
    struct endpoint *endpoints;
    unsigned n_endpoints;
    unsigned max_ejected;  /* of them may be ejected at once */
    atomic_uint n_ejected; /* are */
    unsigned n_workers;
    const struct proxy_hooks *hooks;
    void *tls;          /* settings towards its endpoints; or NULL */
    uint64_t tls_stamp; /* of the files they were made from */
};

/* A dependency of the engine, counted by the services that have it.
 * Threads: shared. */
struct counted_dep {
    struct dep_block block; /* that it lies in; first: dep_memory.h */
    atomic_uint refs;
    bide_dep *dep;
    const struct proxy_hooks *hooks;
    atomic_bool faults; /* on purpose: somebody has switched them on */
};

/* An upstream as a policy sees it, counted by the states that it is in.
 * Threads: shared. */
struct service {
    atomic_uint refs;
    bide_dep *dep; /* that of `counted` */
    struct counted_dep *counted;
    char *policy_name;
    struct upstream *upstream; /* it is in each state where this is */
    bool plain;                /* no rules that look into good answers */
};

/* What a service goes on from, in the eyes of those who watch: a dependency
 * that was made anew has not counted anything yet. Threads: immutable, but for
 * what is inside prior. */
struct carried_totals {
    struct service *prior; /* whose place it took; or NULL */
    bide_stats *before;    /* totals of those before that; or NULL */
};

/* Threads: immutable. */
struct route {
    const struct bide__proxy_route *conf;
    struct service *service;
    size_t host_len, path_len, exact_len, method_len, header_len, value_len;
    uint8_t header_id;   /* enum http1_id of conf->match.header */
    bool header_dropped; /* fields of that name are not looked at */
    bool can_fail;       /* on purpose */
    bool has_fallback;   /* there is something to do when it is given up */
    const struct route
        *fallback;               /* to the upstream that it falls back on ... */
    const struct route *primary; /* ... and back from there; or NULL */
};

/* Threads: immutable, except refs. */
struct generation {
    atomic_uint refs;
    const struct bide__proxy_conf *conf;
    bide_config *owner; /* whose memory conf is; freed with it; or NULL */
    struct route *routes;
    size_t n_routes;
    struct route
        *fallbacks; /* of each route; used where it has another upstream */
    struct upstream **upstreams;
    size_t n_upstreams;
    struct service **services;
    struct carried_totals *carried; /* of each service */
    size_t n_services;
    uint64_t generation; /* from 1 */
    const struct proxy_hooks *hooks;
    void *tls; /* settings towards clients; or NULL */
};

/* Makes a state, taking from `old` what did not change; old may be NULL. Owns
 * `owner` from then on; `hooks` must outlive it. NULL, and why in err; owner is
 * then still the caller's. */
struct generation *generation_new(const struct bide__proxy_conf *conf,
                                  bide_config *owner, unsigned n_workers,
                                  const struct proxy_hooks *hooks,
                                  struct generation *old, char *err,
                                  size_t err_size);
void generation_ref(struct generation *s);
void generation_unref(struct generation *s); /* frees it after the last */

/* Whether an upstream is in it, the very object. */
bool generation_has(const struct generation *s, const struct upstream *u);

/* ===== carried_totals.c ===== */

/* Fills in what service `i` goes on from. False: no memory. */
bool carried_totals_init(struct generation *s, size_t i,
                         const struct generation *old);
void carried_totals_done(struct carried_totals *l);

/* ===== upstream.c ===== */

/* Whether a new state could use it for that configuration. */
bool upstream_same(const struct upstream *u,
                   const struct bide__proxy_upstream *c);
struct upstream *upstream_new(const struct bide__proxy_upstream *conf,
                              unsigned n_workers,
                              const struct proxy_hooks *hooks, char *err,
                              size_t err_size);
void upstream_unref(struct upstream *u);

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

/* ===== service.c ===== */

/* The service of a state (may be NULL) for that upstream and policy, or NULL.
 */
struct service *service_find(const struct generation *s,
                             const struct upstream *u,
                             const struct bide__proxy_route *c);

/* Makes one, with the dependency of the state before (may be NULL) if there was
 * one with that policy for an upstream of that name. NULL, and why. */
struct service *service_new(struct upstream *u,
                            const struct bide__proxy_route *c,
                            const struct generation *old, char *err,
                            size_t size);
void service_unref(struct service *s); /* NULL is fine */

/* ===== endpoint_counts.c ===== */

/* The counts of an address, with a reference to them: those of an endpoint of
 * `u` at the same address, or new ones. NULL: no memory. */
struct endpoint_counts *endpoint_counts_get(const struct upstream *u,
                                            const char *authority);
void endpoint_counts_unref(struct endpoint_counts *t); /* NULL is fine */

/* Lets an upstream that is not in use yet continue the counts of the one that
 * it replaces. */
void upstream_count_on(struct upstream *u, const struct upstream *from);

/* ===== ejection.c ===== */

/* Puts an endpoint out for a reason, if so many may be out; takes it back when
 * the last reason has gone. */
bool endpoint_eject(struct endpoint *e, enum ejected_by why);
void endpoint_restore(struct endpoint *e, enum ejected_by why, int64_t now_ns);

/* ===== policy_same.c ===== */

bool policy_same(const bide_policy_conf *a, const bide_policy_conf *b);

/* A number that is the same for policies that are, in builds that keep the same
 * state for them. */
uint64_t policy_fingerprint(const bide_policy_conf *policy);

/* ===== route.c ===== */

/* The first route that takes the request, or NULL. */
const struct route *route_find(const struct generation *s,
                               const struct http1_head *head, const char *buf);
void route_init(struct route *r, const struct bide__proxy_route *conf,
                const struct bide__proxy_headers *headers,
                struct service *service);

/* ===== balance.c ===== */

/* Chooses an endpoint for an attempt by worker `w`: of two drawn at random, the
 * one with less to do; not one of `tried` (bits), if there is another; not one
 * that is out, unless too many are; none that is on probation if it must be `sure`.
 * Begins `permit` on the endpoint's breaker;
 * *ret_held says whether it is held, and to be ended. NULL: there is none. */
struct endpoint *endpoint_choose(struct upstream *u, unsigned w, uint64_t tried,
                                 bool sure, uint64_t *random, int64_t now_ns,
                                 bide_call *permit, bool *ret_held);

#endif
