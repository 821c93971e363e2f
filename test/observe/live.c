/* live.c: dependencies to which things happen, now, for the dashboard, a
 * Prometheus and a browser to look at: the engine itself, on the real clock,
 * against services that are only pretended.
 *
 *   observe_live [--port N | --listen A:N] [--otlp URL] [--token T] [--calm |
 * --ill]
 *                [--traffic N] [--insecure] [--many N] [--shared]
 *                [--store-down]
 *
 * "payments" goes through an outage every 40 s; "search" is hedged, and slow
 * now and then; "ledger" answers 429 with Retry-After when it is busy; "mail"
 * is well. --many: beside those, N whose long names are alike; every 29th fails.
 * --shared: "mail" is in a fleet, and there is a store, both with made-up numbers.
 * --store-down: the same, but the store is down.
 * --calm: nothing fails. Prints the port as its first line; ends with
 * its standard input. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/admin/admin.h"
#include "bide/bide.h"
#include "bide/run.h"
#include "bide/share.h"
#include "observe/event/traceparent.h"

enum { CALLS = 512, RUNNING = 2, DEPS = 4, MANY = 400 };

#define MS BIDE_MILLISECOND

/* One attempt under way: when it will end, and how. */
struct attempt {
    uint32_t number; /* 0: none */
    bide_reason why;
    int64_t begin_ns, end_ns, asked_ns, slept_ns;
    bide_outcome outcome;
    struct bide__trace trace;
};

struct call {
    bool on;
    int dep;
    unsigned serial;
    bide_call call;
    struct attempt running[RUNNING];
    int64_t begin_ns, failed_ns, wait_ns, slept_ns, again_ns;
    bide_outcome last;
    struct bide__trace trace;
};

struct service {
    const char *name, *policy, *path;
    double per_s, usual_ms;
};

static const struct service services[DEPS] = {
    { "payments", "payments", "POST /pay/%u", 60, 18 },
    { "search", "search", "GET /search?q=%u", 90, 25 },
    { "ledger", "default", "GET /ledger/%u", 25, 9 },
    { "mail", "default", "PUT /mail/%u", 6, 40 },
};

static bide_dep *deps[DEPS];
static bide_dep *many[MANY];
static int n_many;
static struct call calls[CALLS];
static struct bide__ring *ring;
static struct bide__ids ids;
static bool calm, ill;
static bide_share share;
static bool shared;
static int64_t start_ns;
static uint64_t luck = 88172645463325252u;
static unsigned serial;

static double draw(void)
{
    luck ^= luck << 13;
    luck ^= luck >> 7;
    luck ^= luck << 17;
    return (double)(luck >> 11) / 9007199254740992.0;
}

/* ===== the services ===== */

static double phase_s(int64_t now)
{
    double t = (double)(now - start_ns) / 1e9;
    return t - 40 * (int)(t / 40);
}

/* How ill it is: the share of attempts that fail. */
static double illness(int dep, int64_t now)
{
    double t = phase_s(now);

    if (calm)
        return 0;
    if (dep == 0 && ill)
        return 0.9;
    if (dep == 0)
        return t > 12 && t < 22 ? 0.9 : t > 8 && t < 30 ? 0.15 : 0.01;
    if (dep == 2)
        return t > 15 && t < 30 ? 0.4 : 0.02;
    return dep == 1 ? 0.002 : 0;
}

static bide_outcome outcome_of(int dep, int64_t now)
{
    bide_response r = { .status = 200 };
    bide_header hint = { "Retry-After", 11, "1", 1 };
    double x = draw();

    if (draw() < illness(dep, now)) {
        r.status = dep == 2 ? 429 : x < 0.7 ? 503 : x < 0.9 ? 500 : 0;
        r.fault = r.status == 0 ? BIDE_FAULT_CONNECT : BIDE_FAULT_NONE;
        r.headers = &hint;
        r.n_headers = dep == 2 && x < 0.6;
    } else if (!calm && dep == 2 && x < 0.01) {
        r.status = 404;
    }
    return bide_classify(deps[dep], &r);
}

static int64_t duration_of(int dep)
{
    double ms = services[dep].usual_ms * (0.5 + draw());

    if (!calm && dep == 1 && draw() < 0.06)
        ms *= 12; /* the tail that hedging is for */
    return (int64_t)(ms * 1e6);
}

/* ===== telling ===== */

static void describe(struct bide__event *e, const struct call *c,
                     const struct bide__trace *trace)
{
    char text[64];
    int n = snprintf(text, sizeof text, services[c->dep].path, c->serial);

    e->attempts = bide_dep_policy(deps[c->dep])->attempts;
    e->trace = *trace;
    bide__event_put(e, BIDE__OPERATION, text, (size_t)n);
    n = snprintf(text, sizeof text, "req-%06u", c->serial);
    bide__event_put(e, BIDE__REQUEST_ID, text, (size_t)n);
    n = snprintf(text, sizeof text, "10.0.%d.%u:8080", c->dep,
                 1 + c->serial % 3);
    bide__event_put(e, BIDE__ENDPOINT, text, (size_t)n);
    bide__event_put(e, BIDE__DEP, services[c->dep].name,
                    strlen(services[c->dep].name));
}

static void event_attempt(const struct call *c, const struct attempt *a,
                          const bide_decision *d, int64_t now)
{
    bide_verdict verdict;
    struct bide__event *e = bide__ring_next(ring);
    bool failed = a->outcome.cls != BIDE_SUCCESS;

    if (!e)
        return;
    bide__event_attempt(e, a->number, a->why, &a->outcome, a->begin_ns, now);
    if (failed && bide_call_verdict(&c->call, &verdict) == 0)
        bide__event_decision(e, d, &verdict);
    e->asked_ns = a->asked_ns;
    e->slept_ns = a->slept_ns;
    describe(e, c, &a->trace);
    bide__ring_commit(ring);
}

static void tell_call(const struct call *c, bide_reason reason, int64_t now)
{
    struct bide__event *e = bide__ring_next(ring);

    if (!e)
        return;
    bide__event_call(e, bide_call_attempts(&c->call), reason, &c->last,
                     c->begin_ns, now);
    e->slept_ns = c->slept_ns;
    describe(e, c, &c->trace);
    bide__ring_commit(ring);
}

static void on_breaker(void *ctx, const bide_dep *dep, bide_breaker_state from,
                       bide_breaker_state to, int64_t now_ns)
{
    struct bide__event *e = bide__ring_next(ring);

    (void)ctx;
    if (!e)
        return;
    bide__event_breaker(e, bide_dep_name(dep), from, to, now_ns);
    bide__ring_commit(ring);
}

/* ===== calls ===== */

static void begin_attempt(struct call *c, const bide_decision *d, int64_t now)
{
    struct attempt *a = c->running[0].number ? &c->running[1] : &c->running[0];

    *a = (struct attempt){ .number = d->attempt,
                           .why = d->reason,
                           .begin_ns = now,
                           .end_ns = now + duration_of(c->dep),
                           .outcome = outcome_of(c->dep, now),
                           .trace = bide__trace_child(&c->trace, &ids) };
    if (c->failed_ns && d->attempt > 1 && d->reason != BIDE_BECAUSE_HEDGE) {
        a->asked_ns = c->wait_ns;
        a->slept_ns = now - c->failed_ns;
        c->slept_ns += a->slept_ns;
    }
}

static void finish(struct call *c, bide_reason reason, int64_t now)
{
    bide_call_end(&c->call, now);
    tell_call(c, reason, now);
    c->on = false;
}

/* Asks until there is nothing more to do now. `ended`: what to tell with the
 * first answer. */
static void go_on(struct call *c, const struct attempt *ended, int64_t now)
{
    for (;;) {
        bide_decision d = bide_call_next(&c->call, now);
        if (ended)
            event_attempt(c, ended, &d, now);
        ended = NULL;
        if (d.action == BIDE_DONE) {
            finish(c, d.reason, now);
            return;
        }
        if (d.action == BIDE_WAIT) {
            c->again_ns = d.at_ns;
            if (c->failed_ns == now)
                c->wait_ns = d.at_ns - now;
            return;
        }
        begin_attempt(c, &d, now);
    }
}

static void step(struct call *c, int64_t now)
{
    for (int i = 0; i < RUNNING && c->on; i++) {
        struct attempt a = c->running[i];
        if (a.number == 0 || now < a.end_ns)
            continue;
        c->running[i].number = 0;
        c->last = a.outcome;
        if (a.outcome.cls != BIDE_SUCCESS)
            c->failed_ns = now;
        bide_call_report(&c->call, a.number, &a.outcome, now);
        go_on(c, &a, now);
    }
    if (c->on && now >= c->again_ns)
        go_on(c, NULL, now);
}

static void start_call(int dep, int64_t now)
{
    bide_op op = { .idempotent = true };

    for (int i = 0; i < CALLS; i++) {
        struct call *c = &calls[i];
        if (c->on)
            continue;
        memset(c, 0, sizeof *c);
        c->on = true;
        c->dep = dep;
        c->begin_ns = now;
        c->serial = ++serial;
        c->again_ns = BIDE_FOREVER;
        bide__trace_start(&c->trace, &ids, true);
        bide_call_begin(&c->call, deps[dep], &op, now);
        go_on(c, NULL, now);
        return;
    }
}

/* One of the many is called, and answers at once. */
static void call_one_of_many(int64_t now)
{
    int i = (int)(draw() * n_many);
    bide_op op = { .idempotent = true };
    bide_outcome out = BIDE_OUTCOME_SUCCESS;
    bide_call call;

    if (i % 29 == 7 && !calm)
        out = (bide_outcome){ .cls = BIDE_TRANSIENT, .status = 503 };
    bide_call_begin(&call, many[i], &op, now);
    bide_decision d = bide_call_next(&call, now);
    if (d.action == BIDE_TRY) {
        bide_call_report(&call, d.attempt, &out, now);
        bide_call_next(&call, now);
    }
    bide_call_end(&call, now);
}

/* What a ledger of three says, again and again. */
static void hear_of_fleet(int64_t now)
{
    static const bide_share_reply reply = { .instances = 3,
                                            .held = 4,
                                            .allowed = 18,
                                            .used = 7,
                                            .with_traffic = 3,
                                            .failing = 1,
                                            .recovered_ns = -1 };
    bide_share_row row;

    bide_share_report(&share, now, &row);
    bide_share_apply(&share, &reply, now);
}

static void work(int64_t until)
{
    double owed[DEPS] = { 0 };
    int64_t last = bide_now_ns();
    struct pollfd in = { .fd = 0, .events = POLLIN };
    char nothing[16];

    for (;;) {
        if (poll(&in, 1, 1) > 0 && read(0, nothing, sizeof nothing) <= 0)
            break;
        int64_t now = bide_now_ns();
        for (int i = 0; i < CALLS; i++)
            if (calls[i].on)
                step(&calls[i], now);
        if (shared)
            hear_of_fleet(now);
        if (n_many && now < until)
            call_one_of_many(now);
        for (int d = 0; d < DEPS && now < until; d++)
            for (owed[d] += services[d].per_s * (double)(now - last) / 1e9 *
                            (0.6 + 0.8 * draw());
                 owed[d] >= 1; owed[d] -= 1)
                start_call(d, now);
        last = now;
    }
    for (int i = 0; i < CALLS; i++)
        if (calls[i].on)
            finish(&calls[i], BIDE_BECAUSE_CANCELLED, bide_now_ns());
}

/* ===== what is seen ===== */

static struct bide__observed_dep watched_deps[DEPS + MANY];
static struct bide__observed_endpoint endpoints[DEPS * 3];
static char addresses[DEPS * 3][32];
static struct bide__observed_value values[] = {
    { "bide_connections", "Open connections.", BIDE__VALUE_GAUGE, "side",
      "client", 42 },
    { "bide_connections", "Open connections.", BIDE__VALUE_GAUGE, "side",
      "upstream", 17 },
    { "bide_store_up", "", BIDE__VALUE_GAUGE, NULL, NULL, 1 },
    { "bide_store_records", "", BIDE__VALUE_GAUGE, NULL, NULL, 12345 },
    { "bide_store_bytes", "", BIDE__VALUE_GAUGE, NULL, NULL, 268435456 },
    { "bide_store_limit_bytes", "", BIDE__VALUE_GAUGE, NULL, NULL, 1073741824 },
    { "bide_store_oldest_seconds", "", BIDE__VALUE_GAUGE, NULL, NULL, 7260 },
    { "bide_proxy_idempotency_claims_total", "", BIDE__VALUE_COUNTER, NULL, NULL,
      13000 },
    { "bide_proxy_idempotency_replays_total", "", BIDE__VALUE_COUNTER, NULL, NULL,
      250 },
    { "bide_proxy_idempotency_mismatch_total", "", BIDE__VALUE_COUNTER, NULL,
      NULL, 3 },
    { "bide_proxy_idempotency_down_total", "", BIDE__VALUE_COUNTER, NULL, NULL,
      0 },
    { "bide_proxy_idempotency_in_progress_total", "", BIDE__VALUE_COUNTER, NULL,
      NULL, 17 },
};

static void take_store_down(void)
{
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (strcmp(values[i].name, "bide_store_up") == 0)
            values[i].value = 0;
        else if (strstr(values[i].name, "_down_total"))
            values[i].value = 12;
}

static const struct bide__observed_route routes[] = {
    { "payments", "POST /pay/*", 900, 90 },
    { "search", "/search*", 1800, 0 },
};
static struct bide__observed observed = { .deps = watched_deps,
                                          .n_deps = DEPS,
                                          .endpoints = endpoints,
                                          .n_endpoints = DEPS * 3,
                                          .values = values,
                                          .n_values = 2,
                                          .routes = routes,
                                          .n_routes = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct bide__observed *hold(void *ctx)
{
    int64_t now = bide_now_ns();

    (void)ctx;
    pthread_mutex_lock(&lock); /* until it is released */
    for (int i = 0; i < DEPS * 3; i++) {
        bool out = i == 1 && !calm && phase_s(now) > 12 && phase_s(now) < 26;
        endpoints[i].state = out ? BIDE__ENDPOINT_EJECTED : BIDE__ENDPOINT_UP;
        endpoints[i].requests += 20;
    }
    return &observed;
}

static void release(void *ctx, const struct bide__observed *w)
{
    (void)ctx;
    (void)w;
    pthread_mutex_unlock(&lock);
}

static bide_dep *named(const char *dep, char *why, size_t size)
{
    for (size_t i = 0; i < observed.n_deps; i++)
        if (strcmp(watched_deps[i].name, dep) == 0)
            return watched_deps[i].dep;
    snprintf(why, size, "no dependency `%s`", dep);
    return NULL;
}

static bool force(void *ctx, const char *dep, bide_breaker_mode mode, char *why,
                  size_t size)
{
    bide_dep *d = named(dep, why, size);
    (void)ctx;
    return d && bide_dep_force_breaker(d, mode) == 0;
}

static bool probe(void *ctx, const char *dep, char *why, size_t size)
{
    bide_dep *d = named(dep, why, size);
    (void)ctx;
    if (d && bide_dep_probe_now(d, bide_now_ns()) == 0)
        return true;
    if (d)
        snprintf(why, size, "the breaker is not open");
    return false;
}

static bool retries(void *ctx, const char *dep, bool on, char *why, size_t size)
{
    (void)ctx;
    for (int i = 0; i < DEPS; i++)
        if (strcmp(services[i].name, dep) == 0)
            return bide_dep_set_retries(deps[i], on) == 0;
    snprintf(why, size, "no dependency `%s`", dep);
    return false;
}

static const struct bide__source source = { .program = "observe live",
                                            .hold = hold,
                                            .release = release,
                                            .force = force,
                                            .retries = retries,
                                            .probe = probe };

static void make_many(int n)
{
    static const char *const teams[] = { "checkout", "catalog", "identity",
                                         "shipping", "billing", "pricing" };
    static const char *const kinds[] = { "api", "worker", "cache", "gateway",
                                         "events" };

    for (n_many = 0; n_many < n && n_many < MANY; n_many++) {
        bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
        char name[128];
        snprintf(name, sizeof name, "shop-platform-%s-%s-eu-central-%d/default",
                 teams[n_many % 6], kinds[n_many / 6 % 5], 1 + n_many / 30);
        if (bide_dep_new(&many[n_many], name, &conf) < 0)
            abort();
        watched_deps[DEPS + n_many] =
            (struct bide__observed_dep){ .name = bide_dep_name(many[n_many]),
                                         .policy = "default",
                                         .upstream = "",
                                         .dep = many[n_many] };
    }
    observed.n_deps = (size_t)(DEPS + n_many);
}

static void make_deps(void)
{
    bide_host host = { .on_breaker = on_breaker };

    for (int i = 0; i < DEPS; i++) {
        bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
        conf.deadline_ns = 8 * BIDE_SECOND;
        conf.breaker.open_ns = 4 * BIDE_SECOND;
        conf.breaker.open_max_ns = BIDE_MINUTE;
        conf.breaker.open_factor = 2;
        conf.breaker.window_ns = 4 * BIDE_SECOND;
        conf.breaker.failure_rate = 0.5;
        conf.breaker.min_calls = 20;
        if (i == 1) {
            conf.attempts = 1;
            conf.hedge = (bide_hedge_conf){ 1,  BIDE_FOREVER, 0.95,
                                            50, 0.1,          BIDE_MINUTE };
        }
        if (bide_dep_new_in(&deps[i], services[i].name, &conf, &host) < 0)
            abort();
        watched_deps[i] =
            (struct bide__observed_dep){ .name = services[i].name,
                                         .policy = services[i].policy,
                                         .upstream = services[i].name,
                                         .dep = deps[i] };
        for (int k = 0; k < 3; k++) {
            snprintf(addresses[3 * i + k], sizeof addresses[0],
                     "10.0.%d.%d:8080", i, k + 1);
            endpoints[3 * i + k] =
                (struct bide__observed_endpoint){ services[i].name,
                                                  addresses[3 * i + k],
                                                  BIDE__ENDPOINT_UP,
                                                  1,
                                                  6,
                                                  5,
                                                  0,
                                                  0,
                                                  0,
                                                  0 };
        }
    }
}

int main(int argc, char **argv)
{
    struct bide__admin_conf conf = { .source = &source };
    struct bide__exporter_conf otlp = BIDE__EXPORTER_CONF_INIT;
    struct bide__exporter *exporter = NULL;
    char listen[64] = "127.0.0.1:0", why[512];
    double seconds = 86400;
    int wanted = 0;

    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--calm") == 0)
            calm = true;
        else if (strcmp(argv[i], "--port") == 0)
            snprintf(listen, sizeof listen, "127.0.0.1:%s", next);
        else if (strcmp(argv[i], "--listen") == 0)
            snprintf(listen, sizeof listen, "%s", next);
        else if (strcmp(argv[i], "--token") == 0)
            conf.token = next;
        else if (strcmp(argv[i], "--insecure") == 0)
            conf.insecure = true;
        else if (strcmp(argv[i], "--otlp") == 0)
            otlp.url = next;
        else if (strcmp(argv[i], "--ill") == 0)
            ill = true;
        else if (strcmp(argv[i], "--shared") == 0)
            shared = true;
        else if (strcmp(argv[i], "--store-down") == 0)
            shared = true, take_store_down();
        else if (strcmp(argv[i], "--many") == 0)
            wanted = atoi(next);
        else if (strcmp(argv[i], "--traffic") == 0)
            seconds = atof(next);
    }
    start_ns = bide_now_ns();
    if (!bide__ids_init(&ids))
        return 1;
    make_deps();
    make_many(wanted);
    if (shared && bide_share_init(&share, deps[DEPS - 1], 1) < 0)
        return 1;
    if (shared)
        observed.n_values = sizeof values / sizeof values[0];
    otlp.source = &source;
    otlp.service = "observe-live";
    const char *mistake =
        otlp.url ? bide__exporter_new(&exporter, &otlp) : NULL;
    if (mistake) {
        fprintf(stderr, "%s: %s\n", otlp.url, mistake);
        return 2;
    }
    struct bide__collector_conf collect = { .source = &source,
                                            .exporter = exporter };
    conf.collector = bide__collector_new(&collect);
    ring = bide__collector_ring(conf.collector);
    bide__collector_start(conf.collector);
    conf.listen = listen;
    struct bide__admin *admin = bide__admin_start(&conf, why, sizeof why);
    if (!admin) {
        fprintf(stderr, "%s\n", why);
        return 2;
    }
    printf("%d\n", bide__admin_port(admin));
    fflush(stdout);
    work(start_ns + (int64_t)(seconds * 1e9));
    bide__admin_stop(admin);
    if (shared)
        bide_share_done(&share);
    bide__collector_free(conf.collector);
    bide__exporter_free(exporter);
    for (int i = 0; i < DEPS; i++)
        bide_dep_free(deps[i]);
    for (int i = 0; i < n_many; i++)
        bide_dep_free(many[i]);
    return 0;
}
