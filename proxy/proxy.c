/* The sidecar as a whole: workers, and their shared state. */
#include "proxy/proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "bide/run.h"
#include "config/field/same.h"
#include "config/field/text.h"
#include "config/fleet/conf.h"
#include "config/proxy/conf.h"
#include "net/resolve.h"
#include "observe/event/sink.h"
#include "proxy/access_log.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/resolver.h"
#include "proxy/back/upstream.h"
#include "proxy/dep_memory.h"
#include "proxy/exchange/hops.h"
#include "proxy/exchange/route.h"
#include "proxy/exchange/stale.h"
#include "proxy/front/accept.h"
#include "proxy/front/per_client.h"
#include "proxy/generation.h"
#include "proxy/once/port.h"
#include "proxy/worker.h"

static unsigned cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 1024 ? 1024 : (unsigned)n;
}

unsigned proxy_workers(const struct bide__proxy_conf *conf)
{
    return conf->workers ? conf->workers : cores();
}

static int open_worker(struct proxy *p, unsigned i, char *err, size_t err_size)
{
    struct worker *w = worker_new(p, i, err, err_size);
    if (!w)
        return -1;
    if (worker_listen(w) && event_open(w, &p->tell) &&
        access_log_follow(w) && once_follow(w))
        return 0;
    snprintf(err, err_size, "no memory");
    return -1;
}

bool proxy_limits_clients(const struct bide__proxy_conf *conf)
{
    const struct bide__proxy_per_client *most = &conf->limits.per_client;
    return most->connections != UINT32_MAX || most->requests_per_s > 0 ||
           most->handshakes_per_s > 0;
}

/* Counts are kept from then on, whatever the limits become. Call it before a
 * generation needs it: no worker looks here unless its generation does. False:
 * no memory. */
static bool count_clients(struct proxy *p, const struct bide__proxy_conf *conf)
{
    uint64_t secret = 0;
    if (p->per_client || !proxy_limits_clients(conf))
        return true;
    if (getrandom(&secret, sizeof secret, 0) < 0)
        secret = (uint64_t)bide_now_ns();
    return (p->per_client = per_client_new(secret)) != NULL;
}

/* Copies outlive a reload, but not the last route that serves them. */
static void bound_stale(struct proxy *p)
{
    const struct bide__proxy_conf *conf = p->generation->conf;
    bool kept = false;
    for (size_t i = 0; i < conf->n_routes; i++)
        kept |= conf->routes[i].fallback.stale_ns != 0;
    stale_resize(p->stale, kept ? conf->limits.stale_bytes : 0);
}

/* To close a store may take a moment, which no worker has: what it uses no longer
 * is held here until the next reload. */
static void hold_store(struct proxy *p)
{
    struct once_store *now = p->generation->store;
    if (now == p->store)
        return;
    once_store_unref(p->store_before);
    p->store_before = p->store;
    p->store = once_store_ref(now);
}

struct proxy *proxy_new(bide_config *config,
                        const struct bide__proxy_conf *conf,
                        const struct proxy_hooks *hooks, char *err,
                        size_t err_size)
{
    struct proxy *p = calloc(1, sizeof *p);
    snprintf(err, err_size, "no memory");
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    hops_name(p);
    if (hooks)
        p->hooks = *hooks;
    p->no_kept.line = -1;
    p->kept = &p->no_kept;
    p->n_workers = proxy_workers(conf);
    p->workers = calloc(p->n_workers, sizeof(struct worker *));
    if (pulse_init(&p->pulse, p->n_workers) && p->workers &&
        count_clients(p, conf) && (p->stale = stale_new()))
        p->generation = generation_new(conf, config, p->n_workers, &p->hooks,
                                       NULL, err, err_size);
    if (!p->generation) {
        proxy_free(p);
        return NULL;
    }
    p->hooks.store = NULL; /* it is the generation's */
    hold_store(p);
    bound_stale(p);
    return p;
}

void proxy_inherit(struct proxy *p, struct kept *kept)
{
    char name[32];
    p->kept = kept;
    do
        snprintf(name, sizeof name, LISTEN_SYSTEMD, (unsigned)p->n_inherited);
    while (kept_find(kept, name) && ++p->n_inherited);
}

/* Whether there is anything to resolve: otherwise there is no thread for it. */
static bool has_names(const struct generation *g)
{
    for (size_t i = 0; i < g->n_upstreams; i++)
        for (unsigned e = 0; e < g->upstreams[i]->n_endpoints; e++)
            if (!net_is_address(g->upstreams[i]->endpoints[e].host))
                return true;
    return false;
}

static bool use_log(struct proxy *p, struct bide__target *to, char *err,
                    size_t err_size)
{
    if (to && access_log_use(p, to))
        return true;
    if (to)
        snprintf(err, err_size, "no memory or thread for the access log");
    return false;
}

static bool resolve_names(struct proxy *p, const struct generation *g,
                          char *err, size_t err_size)
{
    if (!p->resolver && has_names(g) && !(p->resolver = resolver_new(p)))
        snprintf(err, err_size, "no memory or thread to look up names");
    return p->resolver || !has_names(g);
}

int proxy_start(struct proxy *p, char *err, size_t err_size)
{
    const char *log = p->generation->conf->access_log;
    if (log && !use_log(p, access_log_open(log, err, err_size), err, err_size))
        return -1;
    if (!(p->sockets =
              listen_sockets_new(p, p->generation->conf, NULL, err, err_size)))
        return -1;
    for (unsigned i = 0; i < p->n_workers; i++)
        if (open_worker(p, i, err, err_size) < 0)
            return -1;
    for (unsigned i = 0; i < p->n_workers; i++) {
        int rc = worker_start(p->workers[i]);
        if (rc != 0) {
            snprintf(err, err_size, "cannot start a thread: %s", strerror(rc));
            return -1;
        }
        p->n_started = i + 1;
    }
    return resolve_names(p, p->generation, err, err_size) ? 0 : -1;
}

static void send_all(struct proxy *p, enum worker_message message)
{
    for (unsigned i = 0; i < p->n_started; i++)
        worker_tell(p->workers[i], message);
}

/* ===== reload ===== */

/* Whether something differs that cannot change while it runs: telemetry was
 * there before the first worker, and stays. */
static bool differs(const struct proxy *p, const struct bide__proxy_conf *a,
                    const struct bide__proxy_conf *b, char *path, size_t size)
{
    bool workers = b->workers != 0 && b->workers != p->n_workers;
    snprintf(path, size, workers ? "proxy.workers" : "proxy");
    return workers || bide__fixed_differs(&bide__proxy_table, a, b, path, size);
}

static bool fleet_differs(const bide_config *a, const bide_config *b, char *path,
                          size_t size)
{
    const struct bide__fleet_settings *was = a ? bide__config_fleet(a) : NULL,
                                      *is = b ? bide__config_fleet(b) : NULL;
    snprintf(path, size, "fleet");
    if (!was || !is)
        return was != is;
    return bide__fixed_differs(&bide__fleet_table, was, is, path, size);
}

/* What is opened may fail, so it is opened before anything changes. */
int proxy_reload(struct proxy *p, bide_config *config,
                 const struct bide__proxy_conf *conf, char *err,
                 size_t err_size)
{
    struct generation *old = p->generation; /* nobody else changes it */
    struct listen_sockets *shut = p->sockets;
    char fixed[64];
    if (differs(p, old->conf, conf, fixed, sizeof fixed) ||
        fleet_differs(old->owner, config, fixed, sizeof fixed)) {
        bool upgrades = old->conf->supervise && conf->supervise;
        snprintf(err, err_size, "%s cannot change while it runs: %srestart",
                 fixed, upgrades ? "upgrade (SIGUSR2) or " : "");
        return -1;
    }
    if (!count_clients(p, conf)) {
        snprintf(err, err_size, "no memory");
        return -1;
    }
    size_t base;
    bool moves = !bide__field_same(
        bide__field_find(&bide__proxy_table, "access_log", &base), old->conf,
        conf);
    struct bide__target *log =
        moves ? access_log_open(conf->access_log, err, err_size) : NULL;
    struct listen_sockets *d =
        moves && !log ? NULL : listen_sockets_new(p, conf, shut, err, err_size);
    struct generation *g = d ? generation_new(conf, config, p->n_workers,
                                              &p->hooks, old, err, err_size)
                             : NULL;
    if (!g || !resolve_names(p, g, err, err_size)) {
        if (g)
            g->owner = NULL; /* is still the caller's */
        generation_unref(g);
        listen_sockets_unref(d);
        bide__target_free(log);
        return -1;
    }
    if (log && !access_log_use(p, log))
        fprintf(stderr, "bide proxy: no memory or thread for the access log\n");
    pthread_mutex_lock(&p->lock);
    p->generation = g;
    p->sockets = d;
    pthread_mutex_unlock(&p->lock);
    listen_sockets_drop_others(p->kept, shut, d);
    generation_unref(old);
    listen_sockets_unref(shut);
    hold_store(p);
    bound_stale(p);
    send_all(p, WORKER_RELOAD);
    dep_memory_sweep(p->hooks.memory);
    if (p->resolver)
        resolver_wake(p->resolver);
    return 0;
}

struct generation *proxy_generation(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    struct generation *g = p->generation;
    generation_ref(g);
    pthread_mutex_unlock(&p->lock);
    return g;
}

struct listen_sockets *proxy_sockets(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    struct listen_sockets *d = p->sockets;
    listen_sockets_ref(d);
    pthread_mutex_unlock(&p->lock);
    return d;
}

/* ===== the end ===== */

void proxy_drain(struct proxy *p)
{
    atomic_store(&p->draining, true);
    send_all(p, WORKER_DRAIN);
}
void proxy_hand_over(struct proxy *p)
{
    atomic_store(&p->draining, true);
    send_all(p, WORKER_HAND_OVER);
}
void proxy_stop(struct proxy *p)
{
    send_all(p, WORKER_STOP);
}

bool proxy_rotate(struct proxy *p, char *err, size_t err_size)
{
    const char *log = p->generation->conf->access_log;
    bool fine =
        !log || use_log(p, access_log_open(log, err, err_size), err, err_size);
    send_all(p, WORKER_ROTATE);
    return fine;
}

bool proxy_ended(struct proxy *p)
{
    for (unsigned i = 0; i < p->n_started; i++)
        if (!atomic_load(&p->workers[i]->ended))
            return false;
    return true;
}

void proxy_join(struct proxy *p)
{
    for (unsigned i = 0; i < p->n_started; i++)
        worker_join(p->workers[i]);
    p->n_started = 0;
}

void proxy_free(struct proxy *p)
{
    if (!p)
        return;
    resolver_free(p->resolver);
    for (unsigned i = 0; p->workers && i < p->n_workers; i++)
        worker_free(p->workers[i]);
    bide__sink_free(p->log);
    listen_sockets_unref(p->sockets);
    generation_unref(p->generation);
    once_store_unref(p->store);
    once_store_unref(p->store_before);
    stale_free(p->stale);
    free(p->workers);
    per_client_free(p->per_client);
    pulse_done(&p->pulse);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
