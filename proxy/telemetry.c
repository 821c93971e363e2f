/* The list of everything observable, created for each reader. */
#include "proxy/back/request_counts.h"
#include "proxy/telemetry.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bide/run.h"
#include "config/proxy/conf.h"
#include "net/http2/error.h"
#include "observe/event/sink.h"
#include "proxy/back/carried_totals.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/pool.h"
#include "proxy/back/service.h"
#include "proxy/back/upstream.h"
#include "proxy/exchange/route.h"
#include "proxy/exchange/stale.h"
#include "proxy/generation.h"
#include "proxy/once/port.h"

enum { OWN_VALUES = 32 + HTTP2_WHYS_N, RELOAD_PATIENCE_S = 5 };

enum {
#define X(name, help) COUNTER_##name,
    PROXY_COUNTERS(X)
#undef X
        N_COUNTERS
};

/* A list, and the generation that it describes. */
struct held {
    struct bide__observed list; /* first */
    struct generation *generation;
    struct bide__observed_dep *deps;
    struct bide__observed_endpoint *endpoints;
    struct bide__observed_route *routes;
    struct bide__observed_value values[N_COUNTERS + OWN_VALUES];
};

/* ===== endpoints ===== */

static enum bide__endpoint_state state_of(struct endpoint *e, int64_t now)
{
    int64_t back = atomic_load(&e->back_ns);
    unsigned out = atomic_load(&e->ejected_by);

    if (out & (EJECTED_BY_HEALTH | EJECTED_BY_SILENCE))
        return BIDE__ENDPOINT_DOWN;
    if (out & EJECTED_BY_BREAKER)
        return bide_dep_breaker(e->breaker, now) == BIDE_BREAKER_HALF_OPEN
                   ? BIDE__ENDPOINT_PROBED
                   : BIDE__ENDPOINT_EJECTED;
    if (back != 0 && now - back < e->upstream->conf.slow_start_ns)
        return BIDE__ENDPOINT_WARMING;
    return BIDE__ENDPOINT_UP;
}

static void add_pool(struct bide__observed_endpoint *to, const struct pool *p)
{
    to->connections += gauged(&p->n_links);
    to->idle += gauged(&p->n_idle);
    to->http2 += gauged(&p->n_shared);
}

static void look_at(struct bide__observed_endpoint *to, struct endpoint *e)
{
    /* counted once per address */
    struct request_sums sums =
        request_counts_sum(e->counts, e->upstream->n_workers);

    to->requests = sums.requests;
    to->retries = sums.retries;
    to->failures = sums.failures;
    for (unsigned w = 0; w < e->upstream->n_workers; w++) {
        to->in_flight += pools_in_flight(e, w);
        add_pool(to, &e->pools[w]);
        if (e->others)
            add_pool(to, &e->others[w]);
    }
}

/* The entry of an address: one that is configured twice, to get twice the
 * share, has one entry. */
static struct bide__observed_endpoint *place_of(struct held *h,
                                                const struct endpoint *e)
{
    for (size_t i = 0; i < h->list.n_endpoints; i++)
        if (h->endpoints[i].upstream == e->upstream->name &&
            strcmp(h->endpoints[i].address, e->authority) == 0)
            return &h->endpoints[i];
    return &h->endpoints[h->list.n_endpoints++];
}

static void list_endpoints(struct held *h, struct upstream *u, int64_t now)
{
    for (unsigned i = 0; i < u->n_endpoints; i++) {
        struct endpoint *e = &u->endpoints[i];
        struct bide__observed_endpoint *to = place_of(h, e);

        to->upstream = u->name;
        to->address = e->authority;
        to->state = state_of(e, now);
        look_at(to, e);
    }
}

static size_t count_endpoints(const struct generation *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_upstreams; i++)
        n += g->upstreams[i]->n_endpoints;
    return n;
}

static void list_deps(struct held *h)
{
    const struct generation *g = h->generation;

    for (size_t i = 0; i < g->n_services; i++) {
        const struct service *v = g->services[i];
        const struct carried_totals *l = &g->carried[i];

        h->deps[i] = (struct bide__observed_dep){
            .name = bide_dep_name(v->dep),
            .policy = v->policy_name ? v->policy_name : "",
            .upstream = v->upstream->name,
            .faults = atomic_load(&v->counted->faults),
            .dep = v->dep,
            .prior = l->prior ? l->prior->dep : NULL,
            .before = l->before
        };
    }
    h->list.deps = h->deps;
    h->list.n_deps = g->n_services;
}

/* Routes that are counted together are listed once. */
static void list_routes(struct held *h, unsigned n_workers)
{
    const struct generation *g = h->generation;
    size_t n = 0;

    for (size_t i = 0; i < g->n_routes; i++) {
        const struct route *r = &g->routes[i];
        bool listed = false;
        for (size_t k = 0; k < i && !listed; k++)
            listed = g->routes[k].counts == r->counts;
        if (listed)
            continue;
        struct request_sums sums = request_counts_sum(r->counts, n_workers);
        h->routes[n++] =
            (struct bide__observed_route){ .dep =
                                               bide_dep_name(r->service->dep),
                                           .name = r->name,
                                           .requests = sums.requests,
                                           .retries = sums.retries };
    }
    h->list.routes = h->routes;
    h->list.n_routes = n;
}

/* ===== numbers ===== */

static void add(struct held *h, enum bide__value_kind kind, const char *name,
                double value, const char *help)
{
    h->values[h->list.n_values++] =
        (struct bide__observed_value){ name, help, kind, NULL, NULL, value };
}

/* Those of one name must be adjacent. */
static void list_logs(struct held *h, const struct proxy_telemetry *t)
{
    const struct {
        const char *name;
        const struct bide__sink *sink;
    } logs[] = { { "access", t->proxy->log }, { "decisions", t->decisions } };

    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++)
        if (logs[i].sink)
            h->values[h->list.n_values++] = (struct bide__observed_value){
                .name = "bide_log_dropped_total",
                .help = "log lines that were dropped",
                .kind = BIDE__VALUE_COUNTER,
                .label = "log",
                .label_value = logs[i].name,
                .value = (double)bide__sink_dropped(logs[i].sink)
            };
}

static void list_counters(struct held *h, struct proxy *p)
{
    uint64_t clients = 0, requests = 0, held = 0, sum;

#define X(name, help)                                                          \
    sum = 0;                                                                   \
    for (unsigned i = 0; i < p->n_workers && p->workers[i]; i++)               \
        sum += counted(&p->workers[i]->counters.name);                         \
    add(h, BIDE__VALUE_COUNTER, "bide_proxy_" #name "_total", (double)sum,     \
        help);
    PROXY_COUNTERS(X)
#undef X
    for (unsigned i = 0; i < p->n_workers && p->workers[i]; i++) {
        clients += atomic_load_explicit(&p->workers[i]->now_clients,
                                        memory_order_relaxed);
        requests += atomic_load_explicit(&p->workers[i]->now_exchanges,
                                         memory_order_relaxed);
        held += atomic_load_explicit(&p->workers[i]->now_held,
                                     memory_order_relaxed);
    }
    add(h, BIDE__VALUE_GAUGE, "bide_proxy_clients", (double)clients,
        "open client connections");
    add(h, BIDE__VALUE_GAUGE, "bide_proxy_requests_in_flight", (double)requests,
        "requests in flight");
    add(h, BIDE__VALUE_GAUGE, "bide_proxy_stuck_workers",
        (double)pulse_look(&p->pulse, p).n_stuck,
        "workers that make no progress");
    add(h, BIDE__VALUE_GAUGE, "bide_proxy_held_bytes", (double)held,
        "response data buffered for slow clients");
}

/* Why connections of clients were closed that spoke HTTP/2: each limit, and each
 * rule that one has broken. */
static void list_closed(struct held *h, struct proxy *p)
{
    for (int why = HTTP2_WHY_NONE + 1; why < HTTP2_WHYS_N; why++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < p->n_workers && p->workers[i]; i++)
            sum += counted(&p->workers[i]->http2_closed[why]);
        bool limit = why < HTTP2_WHY_HEAD_SIZE && why != HTTP2_WHY_STREAMS;
        if (limit || sum > 0)
            h->values[h->list.n_values++] = (struct bide__observed_value){
                .name = "bide_proxy_http2_closed_total",
                .help = "connections of clients closed with an error, by what "
                        "was wrong",
                .kind = BIDE__VALUE_COUNTER,
                .label = "why",
                .label_value = http2_why_name((enum http2_why)why),
                .value = (double)sum
            };
    }
}

/* So that no one forgets that they are on. */
static void list_faults(struct held *h)
{
    size_t n = 0;

    for (size_t i = 0; i < h->list.n_deps; i++)
        n += h->deps[i].faults;
    add(h, BIDE__VALUE_GAUGE, "bide_proxy_faults_on", (double)n,
        "dependencies with fault injection turned on");
}

static void list_stale(struct held *h, const struct proxy *p)
{
    size_t copies, bytes;

    stale_count(p->stale, &copies, &bytes);
    add(h, BIDE__VALUE_GAUGE, "bide_proxy_stale_copies", (double)copies,
        "copies of responses for fallback.stale");
    add(h, BIDE__VALUE_GAUGE, "bide_proxy_stale_bytes", (double)bytes,
        "memory used by these copies, out of limits.stale");
}

/* Records of Idempotency-Keys, where there are any. */
static void list_store(struct held *h)
{
    const struct once_store *s = h->generation->store;
    bide_store_stats stats;

    if (!s || bide_store_stats_get(s->store, &stats) < 0)
        return;
    add(h, BIDE__VALUE_GAUGE, "bide_store_up", stats.up ? 1 : 0,
        "whether the store of idempotency records answers");
    add(h, BIDE__VALUE_GAUGE, "bide_store_records", (double)stats.records,
        "idempotency records kept");
    add(h, BIDE__VALUE_GAUGE, "bide_store_bytes", (double)stats.bytes,
        "room that they take");
    add(h, BIDE__VALUE_GAUGE, "bide_store_limit_bytes",
        (double)stats.limit_bytes, "room that there is for them");
    add(h, BIDE__VALUE_GAUGE, "bide_store_oldest_seconds",
        (double)stats.oldest_ns / 1e9, "age of the oldest record");
    add(h, BIDE__VALUE_GAUGE, "bide_store_owed", (double)stats.owed,
        "answers and releases that are still to be written");
    add(h, BIDE__VALUE_COUNTER, "bide_store_operations_total",
        (double)stats.operations, "operations that the store answered");
    add(h, BIDE__VALUE_COUNTER, "bide_store_commits_total",
        (double)stats.commits, "commits that they shared");
    add(h, BIDE__VALUE_COUNTER, "bide_store_down_total", (double)stats.down,
        "operations that the store did not answer in time");
    add(h, BIDE__VALUE_COUNTER, "bide_store_dropped_total",
        (double)stats.dropped, "answers and releases that were given up");
    add(h, BIDE__VALUE_COUNTER, "bide_store_swept_total", (double)stats.swept,
        "records removed after they had expired");
}

/* Telemetry about telemetry itself. */
static void list_own(struct held *h, const struct proxy_telemetry *t)
{
    if (t->collector)
        add(h, BIDE__VALUE_COUNTER, "bide_events_dropped_total",
            (double)bide__collector_dropped(t->collector),
            "events dropped because there were too many at once");
    if (t->exporter) {
        struct bide__exporter_stats s;
        bide__exporter_stats(t->exporter, &s);
        add(h, BIDE__VALUE_COUNTER, "bide_spans_sent_total",
            (double)s.spans_sent, "spans sent to the collector");
        add(h, BIDE__VALUE_COUNTER, "bide_spans_dropped_total",
            (double)s.spans_dropped, "spans that were dropped");
        add(h, BIDE__VALUE_COUNTER, "bide_exports_failed_total",
            (double)s.batches_failed,
            "requests to the collector that were given up");
    }
}

/* ===== the source ===== */

static void let_go(struct held *h)
{
    generation_unref(h->generation);
    free(h->deps);
    free(h->endpoints);
    free(h->routes);
    free(h);
}

static const struct bide__observed *hold(void *ctx)
{
    struct proxy_telemetry *t = ctx;
    struct held *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    h->generation = proxy_generation(t->proxy);
    h->deps = calloc(h->generation->n_services + 1, sizeof *h->deps);
    h->endpoints =
        calloc(count_endpoints(h->generation) + 1, sizeof *h->endpoints);
    h->routes = calloc(h->generation->n_routes + 1, sizeof *h->routes);
    if (!h->deps || !h->endpoints || !h->routes) {
        let_go(h);
        return NULL;
    }
    h->list.endpoints = h->endpoints;
    for (size_t i = 0; i < h->generation->n_upstreams; i++)
        list_endpoints(h, h->generation->upstreams[i], bide_now_ns());
    list_deps(h);
    list_routes(h, t->proxy->n_workers);
    h->list.values = h->values;
    list_counters(h, t->proxy);
    list_closed(h, t->proxy);
    list_logs(h, t);
    list_faults(h);
    list_stale(h, t->proxy);
    list_store(h);
    list_own(h, t);
    return &h->list;
}

static void release(void *ctx, const struct bide__observed *observed)
{
    (void)ctx;
    let_go((struct held *)observed);
}

static bool is_healthy(void *ctx, char *why, size_t size)
{
    struct proxy *p = ((struct proxy_telemetry *)ctx)->proxy;
    struct pulse_view v = pulse_look(&p->pulse, p);

    if (v.n_stuck)
        snprintf(why, size, "worker %u is stuck (%u of %u)", v.first, v.n_stuck,
                 p->n_workers);
    return v.n_stuck == 0;
}

static bool is_draining(void *ctx)
{
    return atomic_load(&((struct proxy_telemetry *)ctx)->proxy->draining);
}

/* Manual actions are logged: at night no one remembers them. */
static bool force(void *ctx, const char *dep, bide_breaker_mode mode, char *why,
                  size_t size)
{
#define X(name, key) [name] = key,
    static const char *const modes[] = { BIDE_BREAKER_MODES(X) };
#undef X
    struct generation *g =
        proxy_generation(((struct proxy_telemetry *)ctx)->proxy);
    bool found = false;

    for (size_t i = 0; i < g->n_services; i++)
        if (strcmp(bide_dep_name(g->services[i]->dep), dep) == 0)
            found |= bide_dep_force_breaker(g->services[i]->dep, mode) == 0;
    if (found)
        fprintf(stderr, "bide proxy: admin: the breaker of %s is %s\n", dep,
                modes[mode]);
    else
        snprintf(why, size, "there is no dependency `%s`", dep);
    generation_unref(g);
    return found;
}

/* Turns all retries and hedges of a dependency on or off. */
static bool retries(void *ctx, const char *dep, bool on, char *why, size_t size)
{
    struct generation *g =
        proxy_generation(((struct proxy_telemetry *)ctx)->proxy);
    bool found = false;

    for (size_t i = 0; i < g->n_services; i++)
        if (strcmp(bide_dep_name(g->services[i]->dep), dep) == 0)
            found |= bide_dep_set_retries(g->services[i]->dep, on) == 0;
    if (found)
        fprintf(stderr, "bide proxy: admin: retries of %s are %s\n", dep,
                on ? "on" : "off");
    else
        snprintf(why, size, "there is no dependency `%s`", dep);
    generation_unref(g);
    return found;
}

/* Lets an open breaker's probes go out at once. */
static bool probe(void *ctx, const char *dep, char *why, size_t size)
{
    struct generation *g =
        proxy_generation(((struct proxy_telemetry *)ctx)->proxy);
    int rc = BIDE_ENAME;

    for (size_t i = 0; i < g->n_services && rc != 0; i++)
        if (strcmp(bide_dep_name(g->services[i]->dep), dep) == 0)
            rc = bide_dep_probe_now(g->services[i]->dep, bide_now_ns());
    if (rc == 0)
        fprintf(stderr, "bide proxy: admin: the breaker of %s probes now\n",
                dep);
    else if (rc == BIDE_ENAME)
        snprintf(why, size, "there is no dependency `%s`", dep);
    else
        snprintf(why, size, "the breaker of `%s` is not open, or is forced",
                 dep);
    generation_unref(g);
    return rc == 0;
}

/* Turns the faults of all routes to a dependency on or off. */
static bool fault(void *ctx, const char *dep, bool on, char *why, size_t size)
{
    struct generation *g =
        proxy_generation(((struct proxy_telemetry *)ctx)->proxy);
    bool found = false;

    for (size_t i = 0; i < g->n_routes; i++) {
        struct service *v = g->routes[i].service;
        if (!g->routes[i].can_fail || strcmp(bide_dep_name(v->dep), dep) != 0)
            continue;
        atomic_store(&v->counted->faults, on);
        found = true;
    }
    if (found)
        fprintf(stderr, "bide proxy: admin: fault injection for %s is %s\n",
                dep, on ? "on" : "off");
    else
        snprintf(why, size, "no route to `%s` has a `fault`", dep);
    generation_unref(g);
    return found;
}

/* The program's main thread waits for these (cmd/proxy/run.c). */
static bool signal_self(int number, char *why, size_t size)
{
    if (kill(getpid(), number) == 0)
        return true;
    snprintf(why, size, "the program cannot be signalled");
    return false;
}

static bool drain(void *ctx, char *why, size_t size)
{
    (void)ctx;
    return signal_self(SIGTERM, why, size);
}

void proxy_telemetry_reloading(struct proxy_telemetry *t)
{
    pthread_mutex_lock(&t->reloads.lock);
    t->reloads.begun++;
    pthread_mutex_unlock(&t->reloads.lock);
}

void proxy_telemetry_reloaded(struct proxy_telemetry *t, bool refused)
{
    pthread_mutex_lock(&t->reloads.lock);
    t->reloads.ended++;
    t->reloads.refused = refused;
    pthread_cond_broadcast(&t->reloads.over);
    pthread_mutex_unlock(&t->reloads.lock);
}

/* Waits for the end of a reload that begins from now on: one that is already
 * running may have read the file before it was changed. Does not wait for one
 * that never comes because the program ends. True: it is over. */
static bool await_reload(struct proxy_telemetry *t, uint64_t number)
{
    struct proxy_reloads *r = &t->reloads;
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += RELOAD_PATIENCE_S;
    while (r->ended < number && !atomic_load(&t->proxy->draining))
        if (pthread_cond_timedwait(&r->over, &r->lock, &until) != 0)
            break;
    return r->ended >= number;
}

static bool reload(void *ctx, char *why, size_t size)
{
    struct proxy_telemetry *t = ctx;
    bool over, refused;

    pthread_mutex_lock(&t->reloads.lock);
    bool told = signal_self(SIGHUP, why, size);
    over = told && await_reload(t, t->reloads.begun + 1);
    refused = t->reloads.refused;
    pthread_mutex_unlock(&t->reloads.lock);
    if (told && !over)
        snprintf(why, size, "it was requested, but is not done yet");
    else if (told && refused)
        snprintf(why, size,
                 "it was refused; keeping the old configuration. The errors "
                 "are on standard error");
    return over && !refused;
}

struct bide__source proxy_source(struct proxy_telemetry *t)
{
    pthread_mutex_init(&t->reloads.lock, NULL);
    pthread_cond_init(&t->reloads.over, NULL);
    return (struct bide__source){ .program = "bide proxy",
                                  .ctx = t,
                                  .hold = hold,
                                  .release = release,
                                  .draining = is_draining,
                                  .healthy = is_healthy,
                                  .force = force,
                                  .retries = retries,
                                  .probe = probe,
                                  .fault = fault,
                                  .drain = drain,
                                  .reload = reload };
}
