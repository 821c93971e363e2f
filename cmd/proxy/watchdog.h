/* cmd/proxy/watchdog.h: polls the workers' pulse about once a second from the
 * main thread, and feeds systemd's watchdog.
 *
 *     struct watchdog dog = watchdog_new(conf->admin != NULL);
 *     struct timespec tick = watchdog_tick(&dog);
 *     for (;;) {
 *         sigtimedwait(&set, NULL, &tick);
 *         watchdog_look(&dog, proxy);
 *     }
 *
 * A worker that is stuck is reported on standard error, once. Threads: owned. */
#ifndef BIDE_CMD_PROXY_WATCHDOG_H
#define BIDE_CMD_PROXY_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct proxy;

struct watchdog {
    int64_t interval_ns; /* of systemd's watchdog; 0: none */
    bool asked;          /* the admin endpoint may ask about the workers */
    unsigned n_stuck;    /* as last seen */
};

/* Reads systemd's settings from the environment. */
struct watchdog watchdog_new(bool asked);

/* How often to poll. An hour, if there is nothing to poll for. */
struct timespec watchdog_tick(const struct watchdog *d);

void watchdog_look(struct watchdog *d, struct proxy *p);

#endif
