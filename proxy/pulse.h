/* proxy/pulse.h: whether the workers make progress.
 *
 *     const struct pulse_view v = pulse_look(&proxy->pulse, proxy);
 *     if (v.n_stuck)
 *         fprintf(stderr, "worker %u is stuck\n", v.first);
 *
 * Each worker counts the iterations of its loop. A poll wakes those that have
 * made none since the last one: an idle worker then makes one, a stuck one does
 * not. What counts is the time since it was woken, as far as it was polled: a
 * program that was stopped as a whole is not stuck when it continues.
 *
 * To be called about once a second; more often does no harm. Threads: shared. */
#ifndef BIDE_PROXY_PULSE_H
#define BIDE_PROXY_PULSE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "bide/policy.h"

struct proxy;

#define PULSE_STUCK_NS (5 * BIDE_SECOND) /* without progress, after waking it */

/* The state of one worker. */
struct beat {
    uint64_t turns; /* when it was last looked at */
    bool woken;
    int64_t silent_ns; /* since then */
};

struct pulse {
    pthread_mutex_t lock;
    int64_t looked_ns; /* 0: not yet */
    struct beat *of;   /* each worker */
};

struct pulse_view {
    unsigned n_stuck;
    unsigned first;    /* of those */
    int64_t silent_ns; /* of the one that has been silent longest */
};

/* False: no memory. */
bool pulse_init(struct pulse *p, unsigned n_workers);
void pulse_done(struct pulse *p);

struct pulse_view pulse_look(struct pulse *p, struct proxy *proxy);

#endif
