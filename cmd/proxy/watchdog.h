/* cmd/proxy/watchdog.h: the workers' pulse, felt about once a second by the
 * program's own thread; and systemd's watchdog, which is fed by it.
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
    int64_t interval_ns; /* systemd waits so long for word; 0: for ever */
    bool asked;          /* somebody may ask how the workers are */
    unsigned n_stuck;    /* as last seen */
};

/* Takes what systemd says of it out of the environment. */
struct watchdog watchdog_new(bool asked);

/* How often to look. An hour, if there is nothing to look for. */
struct timespec watchdog_tick(const struct watchdog *d);

void watchdog_look(struct watchdog *d, struct proxy *p);

#endif
