/* The thread that resolves names.
 *
 * It never asks a name server itself: it starts lookups, takes their answers
 * and sleeps in between. A lookup that never ends costs a sleeping thread, and
 * its name is not looked up again meanwhile. At most LOOKUPS_MAX run at once.
 * Names whose last lookup failed get only half of them, so that many dead names
 * cannot keep the others from being updated. */
#include "proxy/back/resolver.h"

#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/backoff.h"
#include "bide/run.h"
#include "net/lookup.h"
#include "net/loop.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/upstream.h"
#include "proxy/generation.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

enum { LOOKUPS_MAX = 32, RETRY_MS = 500, RETRY_MAX_S = 10 };

/* A name, however many endpoints share it. Threads: owned. */
struct name {
    struct name *next;
    struct net_addresses *known; /* NULL: none yet */
    int64_t every_ns;            /* the shortest `resolve` */
    int64_t at_ns;               /* when to look it up next */
    uint32_t failures;           /* in a row */
    bool asking;                 /* a lookup is running */
    bool wanted;                 /* the current generation has it */
    char host[];
};

struct resolver {
    struct proxy *proxy;
    pthread_t thread;
    struct net_lookups *lookups;
    atomic_bool over, again; /* Threads: shared */

    struct name *names; /* Threads: owned by the thread, as are ... */
    void *tree;         /* ... the same by host, for tsearch(), ... */
    unsigned suspects;  /* ... running lookups of names that failed last, ... */
    bool behind;        /* ... whether there was no memory for some, ... */
    bide_rng_seeded seed;
    bide_rng rng; /* ... and this */
};

/* ===== names ===== */

static int by_host(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->host,
                  ((const struct name *)b)->host);
}

static struct name *name_new(const char *host)
{
    size_t size = strlen(host) + 1;
    struct name *n = calloc(1, sizeof *n + size);
    if (n)
        memcpy(n->host, host, size);
    return n;
}

static void name_free(struct name *n)
{
    free(n->known);
    free(n);
}

/* The name, created if necessary; NULL: no memory. */
static struct name *name_get(struct resolver *r, const char *host)
{
    struct name *n = name_new(host);
    struct name **at = n ? tsearch(n, &r->tree, by_host) : NULL;
    if (at && *at == n) {
        n->next = r->names;
        r->names = n;
        return n;
    }
    free(n);
    return at ? *at : NULL;
}

static struct name *name_find(struct resolver *r, const char *host)
{
    struct name *n = r->names;
    while (n && strcmp(n->host, host) != 0)
        n = n->next;
    return n;
}

/* Drops names that are no longer used; one with a running lookup stays until
 * that ends. */
static void drop_unwanted(struct resolver *r, bool all)
{
    struct name **at = &r->names;
    while (*at) {
        struct name *n = *at;
        if (!all && (n->wanted || n->asking)) {
            at = &n->next;
            continue;
        }
        *at = n->next;
        tdelete(n, &r->tree, by_host);
        name_free(n);
    }
}

/* ===== endpoints ===== */

static bool has_name(const struct endpoint *e)
{
    return !net_is_address(e->host);
}

/* Copies the addresses of the name to the endpoint. True: attempts that wait
 * for it should look again. */
static bool update_endpoint(struct resolver *r, struct endpoint *e,
                          const struct name *n)
{
    bool waited = atomic_load(&e->moves) == 0;
    if (n->known)
        r->behind |= !endpoint_move(e, n->known);
    else if (n->failures > 0)
        atomic_store(&e->unknown, true);
    return waited && (n->known || n->failures > 0);
}

static void wake_workers(struct proxy *p)
{
    for (unsigned i = 0; i < p->n_workers; i++)
        worker_tell(p->workers[i], WORKER_NAMES);
}

/* Calls f for each endpoint of the current generation that has a name. */
static void each_endpoint(struct resolver *r, const struct name *n,
                          bool (*f)(struct resolver *r, struct endpoint *e,
                                    const struct name *n))
{
    struct generation *g = proxy_generation(r->proxy);
    bool changed = false;
    for (size_t i = 0; i < g->n_upstreams; i++)
        for (unsigned k = 0; k < g->upstreams[i]->n_endpoints; k++) {
            struct endpoint *e = &g->upstreams[i]->endpoints[k];
            if (has_name(e))
                changed = f(r, e, n) || changed;
        }
    generation_unref(g);
    if (changed)
        wake_workers(r->proxy);
}

static bool follow_endpoint(struct resolver *r, struct endpoint *e,
                            const struct name *none)
{
    struct name *n = name_get(r, e->host);
    int64_t every = e->upstream->conf.resolve_ns;
    (void)none;
    r->behind |= !n;
    if (!n)
        return false;
    if (!n->wanted || every < n->every_ns)
        n->every_ns = every;
    n->wanted = true;
    return update_endpoint(r, e, n);
}

/* Takes the names of the current generation; all are looked up now. */
static void follow(struct resolver *r)
{
    r->behind = false;
    for (struct name *n = r->names; n; n = n->next) {
        n->wanted = false;
        n->at_ns = 0;
    }
    each_endpoint(r, NULL, follow_endpoint);
    drop_unwanted(r, false);
}

/* ===== lookups ===== */

static int64_t retry_time(struct resolver *r, const struct name *n)
{
    bide_backoff b = BIDE_BACKOFF_INIT;
    b.cap_ns = n->every_ns < RETRY_MAX_S * BIDE_SECOND
                   ? n->every_ns
                   : RETRY_MAX_S * BIDE_SECOND;
    b.base_ns = RETRY_MS * BIDE_MILLISECOND;
    b.jitter = BIDE_JITTER_EQUAL;
    return net_after(bide_now_ns(),
                     bide_backoff_wait(&b, n->failures - 1, 0, &r->rng));
}

/* Reported once, and only if nothing can be reached because of it. */
static void failed(struct resolver *r, struct name *n, const char *why)
{
    if (n->failures++ == 0 && !n->known && n->wanted)
        fprintf(stderr, "bide proxy: %s: %s\n", n->host, why);
    n->at_ns = retry_time(r, n);
}

static bool may_ask(struct resolver *r, const struct name *n)
{
    return n->wanted && !n->asking &&
           net_lookups_running(r->lookups) < LOOKUPS_MAX &&
           (n->failures == 0 || r->suspects < LOOKUPS_MAX / 2);
}

/* Starts what is due; returns when the next will be. */
static int64_t ask_due(struct resolver *r)
{
    int64_t now = bide_now_ns(), next = BIDE_FOREVER;
    for (struct name *n = r->names; n; n = n->next) {
        if (!may_ask(r, n)) /* until the next answer, or a reload */
            continue;
        if (n->at_ns <= now && net_lookup(r->lookups, n->host)) {
            n->asking = true;
            r->suspects += n->failures > 0;
            continue;
        }
        if (n->at_ns <= now)
            failed(r, n, "no thread to look it up");
        if (n->at_ns < next)
            next = n->at_ns;
    }
    return next;
}

static bool update_if_named(struct resolver *r, struct endpoint *e,
                          const struct name *n)
{
    return strcmp(e->host, n->host) == 0 && update_endpoint(r, e, n);
}

static void heard(struct resolver *r, struct net_answer *a)
{
    struct name *n = name_find(r, a->host);
    if (!n || !n->asking)
        return;
    n->asking = false;
    r->suspects -= n->failures > 0;
    if (a->found) {
        free(n->known);
        n->known = a->found;
        a->found = NULL;
        n->failures = 0;
        n->at_ns = net_after(bide_now_ns(), n->every_ns);
    } else {
        failed(r, n, a->why);
    }
    each_endpoint(r, n, update_if_named);
    drop_unwanted(r, false);
}

/* ===== the thread ===== */

static void *run(void *arg)
{
    struct resolver *r = arg;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    while (!atomic_load(&r->over)) {
        if (atomic_exchange(&r->again, false) || r->behind)
            follow(r);
        int64_t next = ask_due(r);
        int64_t soon = bide_now_ns() + RETRY_MS * BIDE_MILLISECOND;
        struct net_answer *a = net_lookups_next(
            r->lookups, r->behind && soon < next ? soon : next);
        if (a)
            heard(r, a);
        net_answer_free(a);
    }
    return NULL;
}

void resolver_wake(struct resolver *r)
{
    atomic_store(&r->again, true);
    net_lookups_wake(r->lookups);
}

struct resolver *resolver_new(struct proxy *p)
{
    struct resolver *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->proxy = p;
    atomic_init(&r->again, true);
    r->rng = bide_rng_seed(&r->seed, (uint64_t)bide_now_ns());
    r->lookups = net_lookups_new();
    if (r->lookups && pthread_create(&r->thread, NULL, run, r) == 0)
        return r;
    net_lookups_free(r->lookups);
    free(r);
    return NULL;
}

void resolver_free(struct resolver *r)
{
    if (!r)
        return;
    atomic_store(&r->over, true);
    net_lookups_wake(r->lookups);
    pthread_join(r->thread, NULL);
    net_lookups_free(r->lookups);
    drop_unwanted(r, true);
    free(r);
}
