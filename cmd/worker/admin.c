/* What others see of the worker. Metrics are read from its statistics and from the
 * broker's last counts; nothing here talks to the broker. */
#include "cmd/worker/admin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "net/tls.h"
#include "observe/admin/admin.h"
#include "observe/export/exporter.h"

#define SILENT_NS (60 * BIDE_SECOND) /* without an answer of the broker: red */

enum { MOST_VALUES = 24 + BIDE_N_REASONS };

struct worker_admin {
    const char *queue;
    struct bide__observed_dep dep;
    const struct queue_stats *stats;
    struct bide__source source;
    struct bide__collector *collector;
    struct bide__exporter *exporter; /* NULL: none */
    void *tls;                       /* its */
    struct bide__admin *admin;
    struct worker_trace trace;
    pthread_mutex_t lock; /* of counts */
    struct broker_counts counts;
};

/* One look, from hold to release. */
struct look {
    struct bide__observed observed; /* first */
    struct bide__observed_dep dep;
    struct bide__observed_value values[MOST_VALUES];
    size_t n;
};

static void add(struct look *l, enum bide__value_kind kind, const char *name,
                const char *help, const char *label, const char *label_value,
                double value)
{
    if (l->n < MOST_VALUES)
        l->values[l->n++] = (struct bide__observed_value){
            name, help, kind, label, label_value, value
        };
}

static void add_queue(struct look *l, const struct broker_counts *c)
{
    static const char name[] = "bide_queue_messages";
    static const char help[] = "Messages in the queue, by state.";

    add(l, BIDE__VALUE_GAUGE, name, help, "state", "waiting",
        (double)c->waiting);
    add(l, BIDE__VALUE_GAUGE, name, help, "state", "held", (double)c->held);
    add(l, BIDE__VALUE_GAUGE, name, help, "state", "later", (double)c->later);
    add(l, BIDE__VALUE_GAUGE, name, help, "state", "running",
        (double)c->running);
    add(l, BIDE__VALUE_GAUGE, name, help, "state", "dead", (double)c->dead);
    add(l, BIDE__VALUE_GAUGE, "bide_queue_oldest_seconds",
        "How long the oldest message that could run has waited.", NULL, NULL,
        (double)c->oldest_ns / 1e9);
}

static void add_dead(struct look *l, const struct queue_stats *s)
{
    static const char name[] = "bide_worker_dead_total";
    static const char help[] = "Messages that became dead letters, by reason.";

    for (int i = 0; i < BIDE_N_REASONS; i++) {
        uint64_t n = atomic_load(&s->dead[i]);
        if (n || i == BIDE_BECAUSE_ATTEMPTS || i == BIDE_BECAUSE_PERMANENT)
            add(l, BIDE__VALUE_COUNTER, name, help, "reason",
                bide_reason_name((bide_reason)i), (double)n);
    }
    add(l, BIDE__VALUE_COUNTER, name, help, "reason", "crashed",
        (double)atomic_load(&s->crashed));
}

static void add_worker(struct look *l, const struct queue_stats *s)
{
    bool paused = atomic_load(&s->state) == QUEUE_PAUSED;
    bide_reason why = (bide_reason)atomic_load(&s->why);

    add(l, BIDE__VALUE_GAUGE, "bide_worker_broker_up",
        "Whether the broker answered when it was last asked. Counts of the queue "
        "are as old as its last answer.",
        NULL, NULL, !atomic_load(&s->away));
    add(l, BIDE__VALUE_GAUGE, "bide_worker_running", "Handlers at work.", NULL,
        NULL, (double)atomic_load(&s->running));
    add(l, BIDE__VALUE_GAUGE, "bide_worker_paused",
        "1 while nothing but a probe is taken, because the handler is not "
        "there.",
        "why", paused ? bide_reason_name(why) : "", paused);
    add(l, BIDE__VALUE_GAUGE, "bide_worker_paused_seconds",
        "For how long it has been paused; 0 if it is not.", NULL, NULL,
        paused ? (double)(bide_now_ns() - atomic_load(&s->paused_ns)) / 1e9
               : 0);
    add(l, BIDE__VALUE_COUNTER, "bide_worker_done_total",
        "Messages that were handled.", NULL, NULL,
        (double)atomic_load(&s->done));
    add(l, BIDE__VALUE_COUNTER, "bide_worker_retries_total",
        "Attempts that failed, count, and will be made again.", NULL, NULL,
        (double)atomic_load(&s->retries));
    add(l, BIDE__VALUE_COUNTER, "bide_worker_given_back_total",
        "Deliveries that did not count as an attempt.", NULL, NULL,
        (double)atomic_load(&s->given_back));
    add(l, BIDE__VALUE_COUNTER, "bide_worker_redeliveries_total",
        "Messages taken that had been taken before.", NULL, NULL,
        (double)atomic_load(&s->redelivered));
    add(l, BIDE__VALUE_COUNTER, "bide_worker_lost_leases_total",
        "Results that were refused, because somebody else had the message.",
        NULL, NULL, (double)atomic_load(&s->lost));
    add(l, BIDE__VALUE_COUNTER, "bide_worker_rescued_total",
        "Messages that a dead worker had held.", NULL, NULL,
        (double)atomic_load(&s->rescued));
    add_dead(l, s);
}

/* No call is made meanwhile, or few: by them all would be well. */
static const char *trouble(const struct queue_stats *s)
{
    return atomic_load(&s->away)                    ? "broker away"
           : atomic_load(&s->state) == QUEUE_PAUSED ? "paused"
                                                    : NULL;
}

static const struct bide__observed *hold(void *ctx)
{
    struct worker_admin *a = ctx;
    struct look *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    pthread_mutex_lock(&a->lock);
    add_queue(l, &a->counts);
    pthread_mutex_unlock(&a->lock);
    add_worker(l, a->stats);
    l->dep = a->dep;
    l->dep.trouble = trouble(a->stats);
    l->observed = (struct bide__observed){
        .deps = &l->dep, .n_deps = 1, .values = l->values, .n_values = l->n
    };
    return &l->observed;
}

static void release(void *ctx, const struct bide__observed *observed)
{
    (void)ctx;
    free((void *)(uintptr_t)observed);
}

static bool healthy(void *ctx, char *why, size_t size)
{
    const struct worker_admin *a = ctx;
    int64_t silent = bide_now_ns() - atomic_load(&a->stats->contact_ns);

    if (silent < SILENT_NS)
        return true;
    snprintf(why, size, "the broker has not answered for %d s",
             (int)(silent / BIDE_SECOND));
    return false;
}

static bool draining(void *ctx)
{
    return atomic_load(&((struct worker_admin *)ctx)->stats->draining) != 0;
}

struct worker_admin *worker_admin_new(const char *queue, bide_dep *dep)
{
    struct worker_admin *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->queue = queue;
    a->dep = (struct bide__observed_dep){ .name = queue, .policy = "",
                                          .upstream = "", .dep = dep };
    pthread_mutex_init(&a->lock, NULL);
    return a;
}

void worker_admin_counts(void *ctx, const struct broker_counts *counts)
{
    struct worker_admin *a = ctx;

    pthread_mutex_lock(&a->lock);
    a->counts = *counts;
    pthread_mutex_unlock(&a->lock);
}

struct worker_trace *worker_admin_trace(struct worker_admin *a)
{
    return &a->trace;
}

/* As the sidecar's: an agent on the same host answers at once, or is not
 * there. */
static bool start_exporter(struct worker_admin *a,
                           const struct worker_watch *watch, char *why,
                           size_t size)
{
    const struct bide__proxy_telemetry *conf = watch->telemetry;
    struct bide__exporter_conf x = BIDE__EXPORTER_CONF_INIT;
    char tls[256];

    if (!conf->otlp)
        return true;
    if (strncmp(conf->otlp, "https://", 8) == 0 &&
        !(a->tls = net_tls_client_new(conf->ca, NULL, NULL, true, tls,
                                      sizeof tls))) {
        snprintf(why, size, "--otlp %s: %s", conf->otlp, tls);
        return false;
    }
    x.url = conf->otlp;
    x.tls = a->tls;
    x.service = "bide-worker";
    x.json = conf->format == BIDE__OTLP_JSON;
    x.metrics_ns = conf->metrics_ns;
    x.source = &a->source;
    x.policy.attempt_timeout_ns = 2 * BIDE_SECOND;
    x.policy.deadline_ns = 10 * BIDE_SECOND;
    const char *mistake = bide__exporter_new(&a->exporter, &x);
    if (mistake)
        snprintf(why, size, "--otlp %s: %s", conf->otlp, mistake);
    return !mistake;
}

static bool start_collector(struct worker_admin *a,
                            const struct worker_watch *watch)
{
    struct bide__collector_conf conf = { .source = &a->source,
                                         .exporter = a->exporter,
                                         .ring_size = a->exporter ? 8192 : 0 };

    a->collector = bide__collector_new(&conf);
    a->trace.queue = a->queue;
    a->trace.system = watch->system;
    a->trace.spans = a->exporter != NULL;
    a->trace.sample = watch->telemetry->sample;
    a->trace.attempts = bide_dep_policy(a->dep.dep)->attempts;
    return a->collector && worker_trace_init(&a->trace, a->collector) &&
           bide__collector_start(a->collector) == 0;
}

bool worker_admin_start(struct worker_admin *a, const struct worker_watch *watch,
                        const struct queue_stats *stats, char *why, size_t size)
{
    struct bide__admin_conf conf = { .listen = watch->listen,
                                     .source = &a->source };
    char mistake[256];

    a->stats = stats;
    a->source = (struct bide__source){ .program = "bide worker", .ctx = a,
                                       .hold = hold, .release = release,
                                       .healthy = healthy,
                                       .draining = draining };
    if (!start_exporter(a, watch, why, size))
        return false;
    if (!start_collector(a, watch)) {
        snprintf(why, size, "no memory or no thread");
        return false;
    }
    if (!watch->listen)
        return true;
    conf.collector = a->collector;
    a->admin = bide__admin_start(&conf, mistake, sizeof mistake);
    if (!a->admin)
        snprintf(why, size, "--admin %s: %s", watch->listen, mistake);
    return a->admin != NULL;
}

int worker_admin_port(const struct worker_admin *a)
{
    return bide__admin_port(a->admin);
}

void worker_admin_free(struct worker_admin *a)
{
    if (!a)
        return;
    bide__admin_stop(a->admin);
    bide__collector_free(a->collector);
    bide__exporter_free(a->exporter);
    net_tls_free(a->tls);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
