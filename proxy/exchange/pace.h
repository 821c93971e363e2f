/* proxy/exchange/pace.h: whether a client keeps up a rate, on average, while we
 * wait for it.
 *
 *     pace_begin(&p, grace_ns);
 *     pace_run(&p, now_ns);                        // it is waited for
 *     pace_add(&p, n, now_ns, rate, grace_ns);     // n bytes have come
 *     pace_stop(&p, now_ns);                       // something else is
 *     if (pace_runs(&p) && pace_due(&p) <= now_ns)
 *         too_slow();
 *
 * A client starts with `grace`. The time that we wait for it is subtracted, and
 * bytes win it back at the rate, never above the grace: a client that was fast
 * has no more left than one that has just begun, and silence for as long as the
 * grace is always too long. Without a rate (0) any byte restores all of it.
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_EXCHANGE_PACE_H
#define BIDE_PROXY_EXCHANGE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/bide.h"

struct pace {
    int64_t left_ns; /* of the grace, as of from_ns */
    int64_t from_ns; /* since when we wait for it; 0: we do not */
};

static inline bool pace_runs(const struct pace *p)
{
    return p->from_ns != 0;
}

static inline void pace_begin(struct pace *p, int64_t grace_ns)
{
    *p = (struct pace){ .left_ns = grace_ns };
}

static inline void pace_run(struct pace *p, int64_t now_ns)
{
    if (!pace_runs(p))
        p->from_ns = now_ns;
}

static inline void pace_stop(struct pace *p, int64_t now_ns)
{
    if (pace_runs(p))
        p->left_ns -= now_ns - p->from_ns;
    p->from_ns = 0;
}

/* When it will have been too slow, if no byte arrives. */
static inline int64_t pace_due(const struct pace *p)
{
    return p->left_ns > INT64_MAX - p->from_ns ? BIDE_FOREVER
                                               : p->from_ns + p->left_ns;
}

/* n bytes arrived; `rate` is bytes a second. */
void pace_add(struct pace *p, uint64_t n, int64_t now_ns, uint32_t rate,
              int64_t grace_ns);

#endif
