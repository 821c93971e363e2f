/* bide proxy as a service: signals, systemd, and the workers' beginning and
 * end.
 *
 * The workers serve; this thread sleeps until a signal comes. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bide/run.h"
#include "proxy.h"
#include "proxy_cmd.h"
#include "proxy_messages.h"
#include "proxy_watchdog.h"
#include "systemd.h"

enum { EXIT_FAILED = 1, LOOK_MS = 100 };

static sigset_t signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    return set;
}

/* A service wants all the descriptors that it may have. */
static void raise_limits(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Those doors that were not there before; before: NULL for none. */
static void say_listening(struct proxy *p, const struct doors *before)
{
    char text[NET_ADDRESS_TEXT];
    struct doors *d = proxy_doors(p);
    for (size_t i = 0; i < d->n; i++) {
        struct net_address a = { .len = sizeof a.to };
        struct door *door = door_of(d, 0, i);
        if ((!before || !doors_have(before, 0, door)) &&
            getsockname(door->fd, &a.to.any, &a.len) == 0)
            fprintf(stderr, "bide proxy: listening on %s%s\n",
                    net_address_text(&a, text), p->state->tls ? " (TLS)" : "");
    }
    doors_unref(d);
}

static void reload(struct proxy *p, struct watching *w, const char *file)
{
    const struct bide__proxy_conf *conf;
    char err[512], ready[128];
    struct doors *before = proxy_doors(p);

    snprintf(ready, sizeof ready, "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)(bide_now_ns() / 1000));
    systemd_notify(ready);
    watch_reloading(w);
    bide_config *config = proxy_read(file, &conf);
    if (config && proxy_reload(p, config, conf, err, sizeof err) < 0) {
        fprintf(stderr, "bide proxy: %s\n", err);
        bide_config_free(config);
        config = NULL;
    }
    if (config)
        say_listening(p, before);
    doors_unref(before);
    fprintf(stderr,
            config ? "bide proxy: %s was read again\n"
                   : "bide proxy: %s was refused; all stays as it was\n",
            file);
    bool renewed = config && watch_reload(w, conf, err, sizeof err);
    if (config && !renewed)
        fprintf(stderr, "bide proxy: %s; the one before stays\n", err);
    watch_reloaded(w, !renewed);
    systemd_notify("READY=1");
}

static void rotate(struct proxy *p, struct watching *w)
{
    char err[512];
    if (!proxy_rotate(p, err, sizeof err))
        fprintf(stderr, "bide proxy: %s; the one before stays\n", err);
    if (!watch_rotate(w, p->state->conf, err, sizeof err))
        fprintf(stderr, "bide proxy: telemetry.log: %s; the one before stays\n",
                err);
}

/* Until the first word to end. */
static void serve(struct proxy *p, struct watching *w, const char *file,
                  struct watchdog *dog)
{
    sigset_t set = signals();
    struct timespec tick = watchdog_tick(dog);
    for (;;) {
        int sig = sigtimedwait(&set, NULL, &tick);
        watchdog_look(dog, p);
        if (sig == SIGHUP)
            reload(p, w, file);
        else if (sig == SIGUSR1)
            rotate(p, w);
        else if (sig > 0)
            return;
    }
}

/* A second word ends it at once. */
static void drain(struct proxy *p, struct watchdog *dog)
{
    sigset_t set = signals();
    const struct timespec look = { .tv_nsec = LOOK_MS * 1000000L };
    fprintf(stderr, "bide proxy: ending\n");
    systemd_notify("STOPPING=1");
    proxy_drain(p);
    while (!proxy_ended(p)) {
        int sig = sigtimedwait(&set, NULL, &look);
        watchdog_look(dog, p);
        if (sig == SIGTERM || sig == SIGINT)
            proxy_stop(p);
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

static int run(const struct proxy_args *args, bide_config *config,
               const struct bide__proxy_conf *conf)
{
    char err[512] = "no memory";
    int first = -1, n = systemd_listen_fds(&first);

    raise_limits();
    struct proxy *p = proxy_new(config, conf, NULL, err, sizeof err);
    if (!p)
        return fail(NULL, config, err);
    proxy_inherit(p, first, (size_t)n);
    struct watching *w = watch_new(p, conf, err, sizeof err);
    if (!w || proxy_start(p, err, sizeof err) < 0 ||
        !watch_start(w, conf, err, sizeof err)) {
        proxy_stop(p);
        proxy_join(p);
        watch_stop(w);
        int rc = fail(p, NULL, err);
        watch_free(w);
        return rc;
    }
    say_listening(p, NULL);
    malloc_trim(0); /* what reading the file took */
    systemd_notify("READY=1");
    struct watchdog dog = watchdog_new(conf->admin != NULL);
    serve(p, w, args->file, &dog);
    drain(p, &dog);
    watch_stop(w);
    proxy_free(p);
    watch_free(w);
    return EXIT_OK;
}

int proxy_run(const struct proxy_args *args, bide_config *config,
              const struct bide__proxy_conf *conf)
{
    sigset_t set = signals();

    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    messages_begin();
    int rc = run(args, config, conf);
    messages_end();
    return rc;
}
