/* bide proxy as a service: signals, systemd, and starting and ending the
 * workers.
 *
 * The workers serve; this thread sleeps until a signal arrives. */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bide/run.h"
#include "cmd/common/fleet.h"
#include "cmd/common/output.h"
#include "cmd/proxy/cmd.h"
#include "cmd/common/messages.h"
#include "cmd/proxy/records.h"
#include "cmd/proxy/supervise.h"
#include "cmd/proxy/taken.h"
#include "cmd/proxy/telemetry.h"
#include "cmd/proxy/watchdog.h"
#include "net/address.h"
#include "net/privileges.h"
#include "net/sandbox.h"
#include "net/systemd.h"
#include "proxy/dep_memory.h"
#include "proxy/generation.h"
#include "proxy/once/port.h"
#include "proxy/proxy.h"

enum { EXIT_FAILED = 1, LOOK_MS = 100 };

/* A service needs as many descriptors as it may have. */
static void raise_limits(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* The sockets that are new; before: NULL for none. */
static void say_listening(struct proxy *p, const struct listen_sockets *before)
{
    char text[NET_ADDRESS_TEXT];
    struct listen_sockets *d = proxy_sockets(p);
    for (size_t i = 0; i < d->n; i++) {
        struct net_address a = { .len = sizeof a.to };
        struct listen_socket *sock = listen_socket_of(d, 0, i);
        if (!sock->old && (!before || !listen_sockets_have(before, 0, sock)) &&
            getsockname(sock->fd, &a.to.any, &a.len) == 0)
            fprintf(stderr, "bide proxy: listening on %s%s\n",
                    net_address_text(&a, text),
                    p->generation->tls ? " (TLS)" : "");
    }
    listen_sockets_unref(d);
}

static void reload(struct proxy *p, struct telemetry *t, const char *file,
                   const struct station *st)
{
    const struct bide__proxy_conf *conf;
    char err[512], ready[128];
    int text = -1;
    struct listen_sockets *before = proxy_sockets(p);

    snprintf(ready, sizeof ready, "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)(bide_now_ns() / 1000));
    systemd_notify(ready);
    telemetry_reloading(t);
    const struct once_store *store = p->generation->store;
    bide_config *config = proxy_read(file, &conf, &text);
    if (config && proxy_reload(p, config, conf, err, sizeof err) < 0) {
        fprintf(stderr, "bide proxy: %s\n", err);
        bide_config_free(config);
        config = NULL;
    }
    if (config) {
        if (p->generation->store != store)
            records_say(config, conf);
        say_listening(p, before);
        station_keep_config(st, text);
    }
    if (text >= 0)
        close(text);
    listen_sockets_unref(before);
    fprintf(stderr,
            config ? "bide proxy: %s reloaded\n"
                   : "bide proxy: %s was refused; keeping the old configuration\n",
            file);
    bool renewed = config && telemetry_reload(t, conf, err, sizeof err);
    if (config && !renewed)
        fprintf(stderr, "bide proxy: %s; keeping the old one\n", err);
    telemetry_reloaded(t, !renewed);
    systemd_notify("READY=1");
}

static void rotate(struct proxy *p, struct telemetry *t)
{
    char err[512];
    if (!proxy_rotate(p, err, sizeof err))
        fprintf(stderr, "bide proxy: %s; keeping the old one\n", err);
    if (!telemetry_rotate(t, p->generation->conf, err, sizeof err))
        fprintf(stderr, "bide proxy: telemetry.log: %s; keeping the old one\n",
                err);
}

/* Serves until the first request to end, which it returns. */
static int serve(struct proxy *p, struct telemetry *t, const char *file,
                 const struct station *st, struct watchdog *dog)
{
    struct timespec tick = watchdog_tick(dog);
    for (;;) {
        int sig = station_wait(st, &tick);
        watchdog_look(dog, p);
        if (sig == SIGHUP)
            reload(p, t, file, st);
        else if (sig == SIGUSR1)
            rotate(p, t);
        else if (sig > 0)
            return sig;
    }
}

/* A second request ends it at once. If another process now serves, this is not
 * the end of the service, and the logs are still ours to reopen. */
static void drain(struct proxy *p, struct telemetry *t,
                  const struct station *st, struct watchdog *dog,
                  bool handed_over)
{
    const struct timespec look = { .tv_nsec = LOOK_MS * 1000000L };
    bool told = !handed_over;
    if (handed_over) {
        proxy_hand_over(p);
        telemetry_hand_over(t);
    } else {
        fprintf(stderr, "bide proxy: ending\n");
        systemd_notify("STOPPING=1");
        proxy_drain(p);
    }
    while (!proxy_ended(p)) {
        int sig = station_wait(st, &look);
        watchdog_look(dog, p);
        if (sig == SIGTERM || sig == SIGINT) {
            (told ? proxy_stop : proxy_drain)(p);
            told = true;
        } else if (sig == SIGUSR1) {
            rotate(p, t);
        }
    }
    proxy_join(p);
}

static int fail(struct proxy *p, bide_config *config, const char *err)
{
    fprintf(stderr, "bide proxy: %s\n", err);
    if (p)
        proxy_free(p);
    else
        bide_config_free(config);
    return EXIT_FAILED;
}

/* What needs the original rights comes first; everything else, including what a
 * reload does again, is done as the serving user. */
static int confine(struct station *st, const struct proxy_args *args,
                   const struct bide__proxy_conf *conf, char *err, size_t size)
{
    station_tell_identity(st, conf);
    if (conf->user && !st->as.user) {
        if (listen_sockets_bind(&st->kept, conf, proxy_workers(conf), err,
                                size) < 0 ||
            !telemetry_bind(&st->kept, conf, err, size) ||
            privileges_drop(conf->user, conf->group, err, size) < 0)
            return -1;
        if (access(args->file, R_OK) < 0) {
            snprintf(err, size,
                     "proxy.user: `%s` cannot read %s, as a reload must: %s",
                     conf->user, args->file, strerror(errno));
            return -1;
        }
    }
    station_watch_supervisor(st);
    if ((conf->sandbox || st->as.sandbox) && sandbox_enter() < 0)
        fprintf(stderr, "bide proxy: no sandbox: %s\n", strerror(errno));
    return 0;
}

/* Everything has been taken over from the previous process. The supervisor
 * learns of it before the user. */
static void started(struct proxy *p, struct station *st, int text)
{
    kept_drop_rest(&st->kept);
    station_keep_config(st, text);
    dep_memory_sweep(p->hooks.memory);
    systemd_notify("READY=1");
    say_listening(p, NULL);
    malloc_trim(0); /* memory that reading the file needed */
}

/* Each dependency is in the fleet from its first call to its last. */
static void on_dep(void *fleet, bide_dep *dep, bool made)
{
    if (made)
        (void)bide_fleet_attach(fleet, dep); /* no memory: it is on its own */
    else
        bide_fleet_detach(fleet, dep);
}

static bool join_fleet(struct proxy_hooks *hooks, const bide_config *config,
                       char *err, size_t size)
{
    bide_fleet *fleet;
    if (!fleet_open(&fleet, bide__config_fleet(config), "bide proxy", err, size))
        return false;
    hooks->fleet = fleet;
    if (fleet)
        hooks->on_dep = on_dep;
    return true;
}

static int run(const struct proxy_args *args, struct station *st,
               bide_config *config, const struct bide__proxy_conf *conf,
               struct proxy_hooks *hooks)
{
    char err[512] = "no memory";
    static char file[PATH_MAX]; /* for observers, who are elsewhere */

    if (args->file && !realpath(args->file, file))
        file[0] = '\0';
    if (st->kept.n == 0) /* none was inherited */
        taken_wait(conf);
    if (confine(st, args, conf, err, sizeof err) < 0)
        return fail(NULL, config, err);
    if (st->memory >= 0)
        hooks->memory = dep_memory_open(st->memory, st->seat, st->others);
    if (!join_fleet(hooks, config, err, sizeof err)) {
        fail(NULL, config, err);
        return EXIT_USAGE;
    }
    if (!records_open(config, conf, hooks, err, sizeof err)) {
        fail(NULL, config, err);
        return EXIT_USAGE;
    }
    struct proxy *p = proxy_new(config, conf, hooks, err, sizeof err);
    once_store_unref(hooks->store);
    hooks->store = NULL;
    if (!p)
        return fail(NULL, config, err);
    proxy_inherit(p, &st->kept);
    struct telemetry *t =
        telemetry_new(p, conf, file[0] ? file : NULL, err, sizeof err);
    if (!t || proxy_start(p, err, sizeof err) < 0 ||
        !telemetry_start(t, conf, err, sizeof err)) {
        proxy_stop(p);
        proxy_join(p);
        telemetry_stop(t);
        int rc = fail(p, NULL, err);
        telemetry_free(t);
        return rc;
    }
    records_say(config, conf);
    started(p, st, args->text);
    struct watchdog dog = watchdog_new(conf->admin != NULL);
    int sig = serve(p, t, args->file, st, &dog);
    drain(p, t, st, &dog, sig == SIGUSR2);
    telemetry_stop(t);
    proxy_free(p);
    telemetry_free(t);
    return EXIT_OK;
}

static void advise(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "bide proxy: %s\n", text);
}

int proxy_run(const struct proxy_args *args, struct station *st,
              bide_config *config, const struct bide__proxy_conf *conf)
{
    sigset_t set;

    signal(SIGPIPE, SIG_IGN);
    station_signals(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise_limits();
    station_enter(st);
    struct proxy_hooks hooks = { .on_store = records_changed,
                                 .on_advice = advise };
    messages_begin();
    int rc = run(args, st, config, conf, &hooks);
    bide_fleet_leave(hooks.fleet);
    messages_end();
    dep_memory_free(hooks.memory);
    if (args->text >= 0)
        close(args->text);
    station_done(st);
    return rc;
}
