/* The telemetry of the sidecar: a collector if anything is observed, the admin
 * endpoint, the log of decisions, the exporter to an OpenTelemetry collector.
 * Each only if it is configured; all on their own threads. */
#include "cmd/proxy/telemetry.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "net/tls.h"
#include "observe/admin/admin.h"
#include "observe/event/sink.h"
#include "observe/event/wall.h"
#include "proxy/telemetry.h"

struct telemetry {
    struct proxy_telemetry shared; /* with the threads that ask */
    struct bide__source source;
    struct bide__log log;
    struct bide__admin *admin;
    void *otlp_tls; /* for the exporter; NULL: none */
};

static bool start_log(struct telemetry *t,
                      const struct bide__proxy_telemetry *conf, char *err,
                      size_t size)
{
    enum { ROOM = 1 << 18 }; /* some 700 lines */
    struct bide__target *to;

    if (!conf->log)
        return true;
    if (!(to = bide__target_new(conf->log, err, size)))
        return false;
    t->shared.decisions = bide__sink_new(to, 1, ROOM);
    if (!t->shared.decisions) {
        snprintf(err, size, "no memory or thread for telemetry.log");
        bide__target_free(to);
        return false;
    }
    bide__log_init(&t->log, bide__sink_lines(t->shared.decisions, 0),
                   conf->log_per_s, 4 * conf->log_per_s,
                   bide__wall_offset_ns());
    t->shared.log = &t->log;
    return true;
}

static bool start_tls(struct telemetry *t,
                      const struct bide__proxy_telemetry *conf, char *err,
                      size_t size)
{
    char why[512];

    t->otlp_tls =
        net_tls_client_new(conf->ca, NULL, NULL, true, why, sizeof why);
    if (!t->otlp_tls)
        snprintf(err, size, "telemetry.otlp: %s: %s", conf->otlp, why);
    return t->otlp_tls != NULL;
}

/* Each attempt gets two seconds, and there are few: an agent on the same host
 * responds at once, or is not there. */
static bool start_exporter(struct telemetry *t,
                           const struct bide__proxy_telemetry *conf, char *err,
                           size_t size)
{
    struct bide__exporter_conf x = BIDE__EXPORTER_CONF_INIT;

    if (!conf->otlp)
        return true;
    if (strncmp(conf->otlp, "https://", 8) == 0 &&
        !start_tls(t, conf, err, size))
        return false;
    x.url = conf->otlp;
    x.tls = t->otlp_tls;
    x.service = "bide-proxy";
    x.json = conf->format == BIDE__OTLP_JSON;
    x.metrics_ns = conf->metrics_ns;
    x.source = &t->source;
    x.policy.attempt_timeout_ns = 2 * BIDE_SECOND;
    x.policy.deadline_ns = 10 * BIDE_SECOND;
    const char *mistake = bide__exporter_new(&t->shared.exporter, &x);
    if (mistake)
        snprintf(err, size, "telemetry.otlp: %s: %s", conf->otlp, mistake);
    return !mistake;
}

static bool start_collector(struct telemetry *t, struct proxy *p,
                            const struct bide__proxy_telemetry *conf)
{
    /* Two events a request, and the collector may have to wait for a busy
     * core. */
    enum { TRACED_EVENTS = 8192 };
    struct bide__collector_conf c = { .ring_size =
                                          conf->otlp ? TRACED_EVENTS : 0,
                                      .source = &t->source,
                                      .log = t->shared.log,
                                      .exporter = t->shared.exporter };

    t->shared.collector = bide__collector_new(&c);
    p->tell = (struct event_conf){ t->shared.collector, conf->otlp != NULL,
                                   conf->sample };
    p->hooks.on_breaker = event_breaker;
    return t->shared.collector != NULL;
}

/* Threads created here leave signals to the main thread. */
static bool start_all(struct telemetry *t, struct proxy *p,
                      const struct bide__proxy_conf *conf, const char *file,
                      char *err, size_t size)
{
    t->shared.proxy = p;
    t->source = proxy_source(&t->shared);
    t->source.file = file;
    if (!conf->admin && !conf->telemetry.otlp && !conf->telemetry.log)
        return true;
    return start_log(t, &conf->telemetry, err, size) &&
           start_exporter(t, &conf->telemetry, err, size) &&
           start_collector(t, p, &conf->telemetry);
}

struct telemetry *telemetry_new(struct proxy *p,
                                const struct bide__proxy_conf *conf,
                                const char *file, char *err, size_t size)
{
    struct telemetry *t = calloc(1, sizeof *t);
    sigset_t all, before;

    if (!t)
        return NULL;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool fine = start_all(t, p, conf, file, err, size);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fine)
        return t;
    telemetry_free(t);
    return NULL;
}

static struct bide__admin_conf admin_conf(const struct bide__proxy_conf *conf)
{
    return (struct bide__admin_conf){ .listen = conf->admin->text,
                                      .token = conf->admin_access.token,
                                      .insecure = conf->admin_access.insecure,
                                      .certificate =
                                          conf->admin_access.certificate,
                                      .key = conf->admin_access.key,
                                      .hosts = conf->admin_access.hosts };
}

/* The name of its socket in the table of what is kept. */
static const char *admin_name(const struct bide__proxy_conf *conf,
                              char name[512])
{
    snprintf(name, 512, "admin %s", conf->admin->text);
    return name;
}

bool telemetry_bind(struct kept *kept, const struct bide__proxy_conf *conf,
                    char *err, size_t size)
{
    char name[512];
    if (!conf->admin || kept_find(kept, admin_name(conf, name)))
        return true;
    struct bide__admin_conf a = admin_conf(conf);
    int fd = bide__admin_listen(&a, err, size);
    if (fd < 0 || kept_put(kept, name, fd, 0) < 0)
        return false;
    kept_find(kept, name)->fresh = true;
    return true;
}

/* On a socket of the previous process, or on a new one, which the supervisor
 * keeps. */
static bool start_admin(struct telemetry *t,
                        const struct bide__proxy_conf *conf, char *err,
                        size_t size)
{
    struct kept *kept = t->shared.proxy->kept;
    struct bide__admin_conf a = admin_conf(conf);
    char name[512];
    const struct kept_entry *e = kept_find(kept, admin_name(conf, name));
    bool old = e && !e->fresh;

    a.listener = e ? kept_take(kept, name) : 0;
    a.source = &t->source;
    a.collector = t->shared.collector;
    t->admin = bide__admin_start(&a, err, size);
    if (!t->admin || old)
        return t->admin != NULL;
    kept_hold(kept, name, bide__admin_listener(t->admin));
    if (conf->admin->path)
        fprintf(stderr, "bide proxy: admin endpoint at %s\n",
                conf->admin->text);
    else
        fprintf(stderr, "bide proxy: admin endpoint at %s://%s%s%s:%d/\n",
                a.certificate ? "https" : "http",
                strchr(conf->admin->host, ':') ? "[" : "", conf->admin->host,
                strchr(conf->admin->host, ':') ? "]" : "",
                bide__admin_port(t->admin));
    return t->admin != NULL;
}

bool telemetry_start(struct telemetry *t, const struct bide__proxy_conf *conf,
                     char *err, size_t size)
{
    sigset_t all, before;
    bool fine = true;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (t->shared.collector && bide__collector_start(t->shared.collector) < 0) {
        snprintf(err, size, "cannot start a thread");
        fine = false;
    }
    if (fine && conf->admin)
        fine = start_admin(t, conf, err, size);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fine;
}

bool telemetry_reload(struct telemetry *t, const struct bide__proxy_conf *conf,
                      char *err, size_t size)
{
    return !t->admin ||
           bide__admin_renew(t->admin, conf->admin_access.certificate,
                             conf->admin_access.key, err, size);
}

bool telemetry_rotate(struct telemetry *t, const struct bide__proxy_conf *conf,
                      char *err, size_t size)
{
    struct bide__target *to =
        t->shared.decisions ? bide__target_new(conf->telemetry.log, err, size)
                            : NULL;
    if (to)
        bide__sink_use(t->shared.decisions, to);
    return to || !t->shared.decisions;
}

void telemetry_reloading(struct telemetry *t)
{
    proxy_telemetry_reloading(&t->shared);
}

void telemetry_reloaded(struct telemetry *t, bool refused)
{
    proxy_telemetry_reloaded(&t->shared, refused);
}

void telemetry_hand_over(struct telemetry *t)
{
    if (t->admin)
        bide__admin_hand_over(t->admin);
}

/* In this order: the collector feeds the exporter, and the exporter's last
 * metrics cover the collector. */
void telemetry_stop(struct telemetry *t)
{
    if (!t)
        return;
    bide__admin_stop(t->admin);
    bide__collector_stop(t->shared.collector);
    bide__exporter_free(t->shared.exporter);
    t->admin = NULL;
    t->shared.exporter = NULL;
}

void telemetry_free(struct telemetry *t)
{
    if (!t)
        return;
    telemetry_stop(t);
    bide__collector_free(t->shared.collector);
    net_tls_free(t->otlp_tls);
    if (t->shared.log)
        bide__log_done(&t->log);
    bide__sink_free(t->shared.decisions);
    free(t);
}
