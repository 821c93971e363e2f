/* bide/fleet.h: one budget and one breaker picture for a whole fleet, on Redis
 * (libbide-fleet).
 *
 *     bide_fleet_conf conf = BIDE_FLEET_CONF_INIT;
 *     conf.store = "redis://127.0.0.1:6379";
 *     conf.name = "shop";
 *     bide_fleet *fleet;
 *     char why[BIDE_FLEET_WHY];
 *     if (bide_fleet_join(&fleet, &conf, why) < 0)
 *         die(why);                     // the URL; never that Redis is away
 *     bide_fleet_attach(fleet, dep);    // all of this name share from now on
 *     ...                               // calls, as ever
 *     bide_fleet_leave(fleet);          // before the dependencies are freed
 *
 * A thread of its own talks to Redis, a few times a second; no call ever waits
 * for it. Dependencies are the same if the name of the fleet and their own names
 * are. Their policies should be the same too.
 *
 * In any window the fleet makes at most ratio x deposits of all, one floor, and
 * one lease for each instance. If Redis is slow or gone, each instance goes on
 * alone after a second: with its own deposits and its part of the floor. Until
 * Redis has answered for the first time, or failed to, each has one retry. The
 * rules are in bide/share.h. */
#ifndef BIDE_FLEET_H
#define BIDE_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dep.h"

BIDE_BEGIN_DECLS

#define BIDE_FLEET_WHY 512

/* Fields are only ever appended. Threads: immutable. */
typedef struct bide_fleet_conf {
    size_t size;           /* sizeof(bide_fleet_conf), as INIT sets it */
    const char *store;     /* redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], or
                              redis+unix:///PATH; none */
    const char *name;      /* of the fleet: 1 .. 64 of A-Z a-z 0-9 . _ -; none */
    uint32_t instances;    /* how many there are, until Redis has said so;
                              1 .. 100000; 1 */
    int64_t timeout_ns;    /* Redis is slow if it takes longer; 10 ms .. 900 ms;
                              250 ms */

    /* It has joined, or is alone, and why; called on the fleet's thread, at
     * each change. NULL: nobody is told. */
    void (*on_change)(void *ctx, bool joined, const char *why);
    void *ctx;
} bide_fleet_conf;

#define BIDE_FLEET_CONF_INIT                                                   \
    {                                                                          \
        sizeof(bide_fleet_conf), NULL, NULL, 1, INT64_C(250000000), NULL, NULL \
    }

/* An instance's membership. Threads: shared. */
typedef struct bide_fleet bide_fleet;

/* Joins, in the background: Redis may be away. Copies *conf. BIDE_EINVAL, and
 * `why` says what was expected; BIDE_ENOMEM; BIDE_ESIZE. */
BIDE_API int bide_fleet_join(bide_fleet **ret, const bide_fleet_conf *conf,
                             char why[BIDE_FLEET_WHY]);

/* Attaches a dependency, by its name. It must not be freed before it is detached,
 * or the fleet left. BIDE_EINVAL, BIDE_ENOMEM; BIDE_ESTATE: it is in a fleet. */
BIDE_API int bide_fleet_attach(bide_fleet *fleet, bide_dep *dep);

/* Detaches it, at once; what it holds is given back in the background. */
BIDE_API void bide_fleet_detach(bide_fleet *fleet, bide_dep *dep);

/* Detaches all, and ends the thread: waits for Redis for at most the timeout,
 * twice. If its name is still being looked up then, the thread ends later, by
 * itself; nobody is told of anything any more. NULL is fine. */
BIDE_API void bide_fleet_leave(bide_fleet *fleet);

/* Threads: owned. */
typedef struct bide_fleet_view {
    bool joined;
    uint32_t instances;     /* as last known */
    uint64_t syncs;         /* rounds that succeeded ... */
    uint64_t failures;      /* ... and that did not */
    int64_t round_trip_ns;  /* of the last that did */
    char why[BIDE_FLEET_WHY]; /* the last failure; empty: none */
    uint64_t _room[4];
} bide_fleet_view;

/* Looks at it. BIDE_EINVAL. */
BIDE_API int bide_fleet_view_get(bide_fleet *fleet, bide_fleet_view *ret);

BIDE_END_DECLS
#endif
