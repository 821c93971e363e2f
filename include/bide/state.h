/* bide/state.h: what a dependency has learned, in numbers that do not depend on
 * its policy.
 *
 *     if (bide_dep_new(&dep, "payments", &conf) == 0)
 *         bide_dep_inherit(dep, old, now_ns);      // before its first call
 *     ...                                          // the old one's calls end
 *     bide_dep_free(old);
 *
 * A policy never changes; a program that reloads its configuration makes a new
 * dependency. Without this it would begin with a full budget and a closed
 * breaker in the middle of an outage, at each reload. What was spent stays
 * spent: the same share of the new budget, whatever its kind and its size. An
 * open breaker stays open, for no longer than the new policy would keep it open.
 *
 * Not taken over: attempts that run and calls that wait, which belong to the old
 * dependency; measured latency; statistics. The counts are taken as if all of
 * them had just happened, so they leave their windows later than they would
 * have. */
#ifndef BIDE_STATE_H
#define BIDE_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "dep.h"

BIDE_BEGIN_DECLS

/* Fields are only ever appended. Threads: owned. */
typedef struct bide_dep_state {
    size_t size;            /* sizeof(bide_dep_state), as INIT sets it */

    double budget_spent;    /* share of the budget that is spent; >= 0: over 1 if
                               there was more when it was spent; 0 */
    double deposits_per_s;  /* into a budget of kind window; >= 0; 0 */

    bide_breaker_state breaker; /* half_open: the next attempt is a probe;
                               closed */
    bide_breaker_mode mode; /* normal */
    int64_t open_until_ns;  /* if it is open: probes go from then on; 0 */
    uint32_t reopenings;    /* in a row, without having closed; 0 */
    uint32_t failed_in_a_row; /* if it is closed; 0 */
    uint64_t attempts;      /* if it is closed: attempts that count, ... */
    uint64_t failed;        /* ... those of them that failed, and ... */
    uint64_t slow;          /* ... those that were slow; at most 2^27 each; 0 */

    double rate;            /* of limits.adaptive_rate, per second; over 0; or
                               infinite: it was not throttled; infinite */
    uint64_t throttle_requests; /* of limits.adaptive_throttle, over its window, */
    uint64_t throttle_accepts;  /* and those accepted; at most 2^27 each; 0 */
} bide_dep_state;

#define BIDE_DEP_STATE_INIT                                                    \
    {                                                                          \
        sizeof(bide_dep_state), 0, 0, BIDE_BREAKER_CLOSED, BIDE_BREAKER_NORMAL, \
            0, 0, 0, 0, 0, 0, 1.0 / 0.0, 0, 0                                  \
    }

/* Reads the state of a dependency; other threads may be using it. BIDE_EINVAL if
 * an argument is missing or ret->size is unknown. */
BIDE_API int bide_dep_state_get(const bide_dep *dep, int64_t now_ns,
                                bide_dep_state *ret);

/* Takes over the state of `old`, whose calls may go on. The mode of the breaker
 * is that of the new policy, unless bide_dep_force_breaker() has set another
 * than the old policy's. BIDE_EINVAL. */
BIDE_API int bide_dep_inherit(bide_dep *dep, const bide_dep *old,
                              int64_t now_ns);

/* Puts a dependency into this state; no call of it may have begun. Whatever its
 * policy has switched off is left alone. BIDE_EINVAL if a value is out of its
 * range; nothing is changed then. */
BIDE_API int bide_dep_state_set(bide_dep *dep, const bide_dep_state *state,
                                int64_t now_ns);

BIDE_END_DECLS
#endif
