/* The usual call, by the short path: it begins, is let through, succeeds, and
 * is over.
 *
 * Nothing is decided here that call.c and attempt.c would decide otherwise, and
 * the same things are counted (test_plain.c runs both paths side by side). But
 * this case, which has nothing to ask and nothing to report, is by far the most
 * frequent, and should cost no more than its counters. If anything is not
 * plain, in the policy or at the moment, these return false without having done
 * anything. */
#ifndef BIDE_LIB_PLAIN_H
#define BIDE_LIB_PLAIN_H

#include "lib/call.h"

/* Begins the first attempt under a closed breaker. */
static inline bool bide__plain_start(struct bide__call *c, int64_t now)
{
    struct bide__running *r = &c->running[0];
    if (!c->dep->policy.plain || c->attempts != 0 ||
        !bide__breaker_idle(&c->dep->breaker, &r->generation))
        return false;
    r->start_ns = now;
    r->attempt = c->attempts = 1;
    r->tokens = 0;
    r->probe = -1;
    r->place = r->paid = r->knock = false;
    c->n_running = 1;
    c->state = BIDE__RUNNING;
    return true;
}

/* Ends the only attempt, a success, with the breaker as it was. */
static inline bool bide__plain_success(struct bide__call *c, int64_t now)
{
    const struct bide__policy *p = &c->dep->policy;
    const struct bide__running *r = &c->running[0];
    int64_t took = bide__elapsed_ns(r->start_ns, now);
    uint16_t generation;
    if (!p->plain || c->attempts != 1 || c->state != BIDE__RUNNING ||
        r->probe >= 0 || took >= p->conf.breaker.slow_ns ||
        !bide__breaker_calm(&c->dep->breaker, &generation) ||
        generation != r->generation)
        return false;
    bide__window_add(&c->lane->succeeded, bide__tick(p->breaker_ticks, now),
                     bide__breaker_era(generation));
    bide__window_add(&c->lane->deposits, bide__tick(p->deposit_ticks, now), 0);
    bide__record_first(c->dep, c->lane, took, now);
    bide__count(&c->lane->first_successes);
    c->n_running = 0;
    c->state = BIDE__OVER;
    c->reason = BIDE_BECAUSE_SUCCESS;
    return true;
}

#endif
