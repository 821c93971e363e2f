/* The state that all calls of a dependency share, in one block of memory.
 *
 *   names and rules | policy ... seed | breaker ... counters | lanes, latency,
 *         what is this process's own  | what may be shared     ring
 *
 * First what is only read, then what failures write, each kind on its own cache
 * lines; what every success writes is in the lanes. From `breaker` on there are
 * no pointers: that part may be in memory that several processes have mapped.
 * It directly follows the first part, so that sharing costs nothing during a
 * call. */
#ifndef BIDE_LIB_DEP_H
#define BIDE_LIB_DEP_H

#include <stdatomic.h>
#include <stdint.h>

#include "bide/dep.h"
#include "lib/limit/adaptive.h"
#include "lib/breaker.h"
#include "lib/budget/budget.h"
#include "lib/fleet/share.h"
#include "lib/gate.h"
#include "lib/host.h"
#include "lib/lane.h"
#include "lib/latency.h"
#include "lib/limit/limit.h"
#include "lib/limit/pace.h"
#include "lib/policy.h"
#include "lib/budget/spend.h"
#include "lib/state/state.h"
#include "lib/stats.h"

struct bide_dep {
    struct bide__policy policy;
    bide_host host;
    bide_rng rng;               /* draws from `seed` and `draws` */
    struct bide__lane *lanes;   /* policy.conf.lanes of them */
    struct bide__latency *latency; /* as many, or NULL: not measured */
    const char *name;
    void *memory;               /* from the host: all of this is in it */
    uint32_t *fork_mark;        /* NULL if seeded by the caller */
    _Atomic uint64_t seed;
    _Alignas(64) struct bide__share share; /* of a fleet: this process's own */

    /* From here on: shared. */
    _Alignas(64) struct bide__breaker breaker;
    struct bide__gate gate;     /* on a line of its own, nearly only read */

    _Alignas(64) _Atomic uint64_t draws;
    struct bide__budget budget;
    struct bide__spend hedge_spend;
    struct bide__places places;
    struct bide__rate rate;
    struct bide__pace pace;
    struct bide__adaptive adaptive;
    _Atomic int64_t hedge_after_ns; /* the quantile, as last looked up ... */
    _Atomic int64_t hedge_look_ns;  /* ... and when to look again */
    _Atomic int64_t measured_since_ns; /* latency, without a gap; -1: it is not */
    _Atomic bool retries_off;   /* by bide_dep_set_retries() */
    uint64_t stamp;             /* of policies that fit it, see dep.c; 0: new */
    uint64_t layout;            /* of policies whose words are in its places */
    struct bide__made_for made_for;
    _Atomic uint64_t instance;  /* in a fleet; 0: was in none, or is not shared */

    _Alignas(64) struct bide__counters counters;
};

static inline bool bide__retries_off(const bide_dep *dep)
{
    return atomic_load_explicit(&dep->retries_off, memory_order_acquire);
}

/* Places in flight that a call of this rank may fill, as of now. */
static inline uint32_t bide__dep_places(const bide_dep *dep,
                                        enum bide__rank rank)
{
    const struct bide__policy *p = &dep->policy;
    if (p->conf.limits.adaptive == BIDE_ADAPTIVE_OFF)
        return p->places[rank];
    uint32_t all = bide__adaptive_limit(&dep->adaptive);
    if (all > p->conf.limits.in_flight)
        all = p->conf.limits.in_flight;
    return bide__policy_places(&p->conf.limits, all, rank);
}

/* The lane in which a call that begins here and now counts. */
static inline struct bide__lane *bide__dep_lane(bide_dep *dep)
{
    uint32_t mask = dep->policy.conf.lanes - 1;
    return &dep->lanes[bide__host_processor() & mask];
}

/* Records the latency of a first attempt. */
static inline void bide__record_first(bide_dep *dep,
                                      const struct bide__lane *lane,
                                      int64_t took, int64_t now)
{
    if (!dep->latency)
        return;
    struct bide__latency *mine = &dep->latency[lane - dep->lanes];
    bide__latency_record(bide__latency_slice(mine, &dep->policy,
                                             &dep->counters.first_time, now),
                         took);
}

#endif
