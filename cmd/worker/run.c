/* bide worker: from the arguments to the loop, and the signals that end it. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bide/error.h"
#include "bide/run.h"
#include "cmd/common/fleet.h"
#include "cmd/common/messages.h"
#include "cmd/common/output.h"
#include "cmd/worker/admin.h"
#include "cmd/worker/log.h"
#include "cmd/worker/settings.h"
#include "cmd/worker/worker.h"
#include "queue/command.h"
#include "queue/guard.h"
#include "queue/http.h"

enum { AT_ONCE_HTTP = 16 };
#define HTTP_TIMEOUT (5 * BIDE_MINUTE) /* an answer that never comes holds a place */

struct running {
    struct worker_args *args;
    struct broker *broker;
    bide_dep *dep;
    struct queue_command command;
    struct queue_http http;
    struct worker_log log;
    struct worker_admin *admin; /* NULL: none */
    bide_fleet *fleet; /* NULL: none */
    sigset_t before;   /* the command's signal mask */
    int signals;
};

/* ===== before the first message ===== */

static int refuse_command(const char *name, int err)
{
    static const char *const subcommands[] = { "ls", "show", "redrive", "check",
                                               NULL };

    complain("worker", "cannot run `%s`: %s; no message was taken", name,
             err == ENOENT ? "not found" : strerror(err));
    if (err == ENOENT && !strchr(name, '/'))
        suggest_near(name, subcommands);
    return EXIT_USAGE;
}

static bool is_url(const char *text)
{
    return strncasecmp(text, "http://", 7) == 0 ||
           strncasecmp(text, "https://", 8) == 0;
}

static uint32_t places(const struct worker_args *a)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (a->at_once)
        return a->at_once;
    return a->to ? AT_ONCE_HTTP : cores > 0 ? 2 * (uint32_t)cores : 2;
}

static int prepare_handler(struct running *r)
{
    struct worker_args *a = r->args;

    if (a->command) {
        int err = queue_command_find(a->command[0]);
        r->command = (struct queue_command)QUEUE_COMMAND_INIT;
        r->command.argv = a->command;
        r->command.mask = &r->before;
        r->command.stop_on = a->stop_on;
        r->command.retry_on = a->retry_on;
        r->command.kill_after_ns = a->kill_after_ns;
        if (err)
            return refuse_command(a->command[0], err);
        queue_guard_start();
        return -1;
    }
    if (!is_url(a->to))
        return complain("worker", "--to %s: expected a URL that begins with "
                                  "http:// or https://",
                        a->to);
    if (a->policy.conf.attempt_timeout_ns == BIDE_FOREVER &&
        !policy_flag_given(&a->policy, "attempt_timeout") && !a->timeout_stated)
        a->policy.conf.attempt_timeout_ns = HTTP_TIMEOUT;
    int rc = queue_http_init(&r->http, a->to, &a->policy.conf);
    if (rc < 0)
        return complain("worker", "--to: %s", bide_strerror(rc));
    return -1;
}

static void catch_signals(struct running *r)
{
    sigset_t ours;

    sigemptyset(&ours);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ours, &r->before);
    signal(SIGPIPE, SIG_IGN);
    r->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ===== working ===== */

static void on_event(void *ctx, const struct queue_event *e)
{
    struct running *r = ctx;

    worker_log_event(&r->log, e);
    if (r->admin)
        worker_trace_event(worker_admin_trace(r->admin), e);
}

static void on_start(void *ctx, struct queue_job *job)
{
    worker_trace_start(worker_admin_trace(((struct running *)ctx)->admin), job);
}

static void on_counts(void *ctx, const struct broker_counts *counts)
{
    worker_admin_counts(((struct running *)ctx)->admin, counts);
}

/* The port may have been 0. */
static void say_admin(const char *listen, int port)
{
    const char *colon = strrchr(listen, ':');

    if (strchr(listen, '/') || !colon)
        fprintf(stderr, "bide worker: admin endpoint at %s\n", listen);
    else
        fprintf(stderr, "bide worker: admin endpoint at http://%.*s:%d/\n",
                (int)(colon - listen), listen, port);
}

/* The endpoint and traces, if they are asked for: -1, or an exit code. */
static int open_admin(struct running *r, const struct queue_stats *stats)
{
    struct worker_watch watch = { .listen = r->args->admin,
                                  .telemetry = &r->args->telemetry,
                                  .system = r->broker->kind->name };
    char why[512];

    if (!r->admin)
        return -1;
    if (!worker_admin_start(r->admin, &watch, stats, why, sizeof why))
        return complain("worker", "%s", why);
    if (watch.listen && !r->args->quiet)
        say_admin(watch.listen, worker_admin_port(r->admin));
    return -1;
}

static void say_start(const struct running *r, uint32_t at_once)
{
    struct broker_counts counts;

    if (r->broker->kind->counts(r->broker, &counts) == 0)
        worker_log_start(&r->log, &counts, at_once);
}

static int work(struct running *r, uint32_t at_once)
{
    struct worker_args *a = r->args;
    struct queue_worker_conf conf = QUEUE_WORKER_CONF_INIT;
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, (uint64_t)bide_now_ns());

    conf.broker = r->broker;
    conf.dep = r->dep;
    conf.handler = a->command ? &r->command.handler : &r->http.handler;
    conf.at_once = at_once;
    conf.ahead = r->broker->traits.prefetch_counts ? 0 : at_once;
    conf.drain_ns = a->drain_ns;
    conf.beat_ns = worker_lease_ns(a) / 3;
    conf.until_empty = a->until_empty;
    conf.signal_fd = r->signals;
    conf.rng = &rng;
    conf.on_event = on_event;
    conf.ctx = r;
    if ((a->admin || a->telemetry.otlp) &&
        !(r->admin = worker_admin_new(r->broker->queue, r->dep)))
        return complain("worker", "out of memory");
    if (r->admin) {
        conf.on_counts = on_counts;
        conf.on_start = on_start;
    }
    struct queue_worker *w = queue_worker_new(&conf);
    if (!w)
        return complain("worker", "cannot start %u handlers: %s", at_once,
                        strerror(errno ? errno : ENOMEM));
    int rc = open_admin(r, queue_worker_stats(w));
    if (rc < 0) {
        say_start(r, at_once);
        messages_begin(); /* whoever reads slowly must not cost it its lease */
        rc = queue_worker_run(w) && a->until_empty ? EXIT_FINDINGS : EXIT_OK;
        messages_end();
    }
    worker_admin_free(r->admin);
    queue_worker_free(w);
    return rc;
}

/* That of --fleet; or `fleet:` of the configuration, or of the policy's file. NULL:
 * none. */
static const struct bide__fleet_settings *fleet_settings(
    const struct worker_args *a)
{
    const bide_config *config =
        a->place.config ? a->place.config : a->policy.config;

    if (a->fleet.settings.store)
        return &a->fleet.settings;
    return config ? bide__config_fleet(config) : NULL;
}

/* -1 to go on, else an exit code. Workers on a queue of one name share. */
static int join_fleet(struct running *r)
{
    const struct worker_args *a = r->args;
    char why[BIDE_FLEET_WHY + 16];

    if (!fleet_open(&r->fleet, fleet_settings(a),
                    a->quiet || a->json ? NULL : "bide worker", why,
                    sizeof why))
        return complain("worker", "%s", why);
    int rc = r->fleet ? bide_fleet_attach(r->fleet, r->dep) : 0;
    return rc < 0 ? complain("worker", "fleet: %s", bide_strerror(rc)) : -1;
}

static int run_open(struct running *r)
{
    struct worker_args *a = r->args;
    uint32_t at_once = places(a);

    if (!worker_check(r->broker, a, at_once, false))
        return EXIT_USAGE;
    int rc = bide_dep_new(&r->dep, r->broker->queue, &a->policy.conf);
    if (rc < 0)
        return complain("worker", "%s", bide_strerror(rc));
    r->log = (struct worker_log){ .queue = r->broker->queue,
                                  .to = a->to,
                                  .quiet = a->quiet,
                                  .verbose = a->verbose,
                                  .json = a->json };
    rc = join_fleet(r);
    if (rc < 0)
        rc = work(r, at_once);
    bide_fleet_leave(r->fleet);
    bide_dep_free(r->dep);
    return rc;
}

int worker_run(struct worker_args *args)
{
    struct running r = { .args = args };
    int rc;

    catch_signals(&r);
    rc = prepare_handler(&r);
    if (rc >= 0)
        return rc;
    r.broker = place_open(&args->place, "worker", PLACE_CONSUME);
    rc = r.broker ? run_open(&r) : EXIT_USAGE;
    broker_close(r.broker);
    if (args->to)
        queue_http_done(&r.http);
    queue_guard_stop();
    close(r.signals);
    return rc;
}
