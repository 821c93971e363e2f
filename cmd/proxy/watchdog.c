/* The pulse of the workers, for systemd and for standard error. */
#include "cmd/proxy/watchdog.h"

#include <stdio.h>

#include "net/systemd.h"
#include "proxy/proxy.h"

struct watchdog watchdog_new(bool asked)
{
    return (struct watchdog){ .interval_ns = systemd_watchdog_ns(),
                              .asked = asked };
}

struct timespec watchdog_tick(const struct watchdog *d)
{
    int64_t ns = d->asked ? BIDE_SECOND : BIDE_HOUR;

    if (d->interval_ns && d->interval_ns / 4 < ns)
        ns = d->interval_ns / 4 < BIDE_SECOND ? d->interval_ns / 4
                                              : BIDE_SECOND;
    return (struct timespec){ .tv_sec = (time_t)(ns / BIDE_SECOND),
                              .tv_nsec = (long)(ns % BIDE_SECOND) };
}

void watchdog_look(struct watchdog *d, struct proxy *p)
{
    if (!d->asked && !d->interval_ns)
        return;
    struct pulse_view v = pulse_look(&p->pulse, p);
    if (v.n_stuck > d->n_stuck)
        fprintf(stderr, "bide proxy: worker %u is stuck\n", v.first);
    d->n_stuck = v.n_stuck;
    if (d->interval_ns && v.silent_ns < d->interval_ns / 2)
        systemd_notify("WATCHDOG=1");
}
