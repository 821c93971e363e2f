/* bide/dep.h: a dependency, that is: whatever is being called, and all that its
 * callers must know about it together.
 *
 *     bide_dep *dep;
 *     int rc = bide_dep_new(&dep, "payments", &conf);
 *     if (rc < 0)
 *         die(bide_strerror(rc));
 *     ...                              // bide_call_begin(&call, dep, ...)
 *     bide_dep_free(dep);              // when no call uses it any more
 *
 * One dependency for each thing that can fail by itself: a host, a shard, a
 * database. All its calls, from all threads, share it without locks. */
#ifndef BIDE_DEP_H
#define BIDE_DEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "outcome.h"
#include "policy.h"

BIDE_BEGIN_DECLS

/* Threads: shared. */
typedef struct bide_dep bide_dep;

#define BIDE_BREAKER_STATES(X)                                                 \
    X(BIDE_BREAKER_CLOSED, "closed")                                           \
    X(BIDE_BREAKER_OPEN, "open")                                               \
    X(BIDE_BREAKER_HALF_OPEN, "half_open")

typedef enum bide_breaker_state {
#define X(name, key) name,
    BIDE_BREAKER_STATES(X)
#undef X
} bide_breaker_state;

/* What the engine cannot have by itself, and what it tells its surroundings.
 * Any member may be NULL. The hooks are called from inside bide functions, on
 * the thread that called those, with nothing locked: they may call bide again,
 * on the same dependency too, but must not free it. Threads: immutable. */
typedef struct bide_host {
    void *ctx;                       /* passed to every hook */
    void *(*alloc)(void *ctx, size_t size); /* NULL: malloc, and free */
    void (*release)(void *ctx, void *memory); /* goes with alloc; NULL: nothing
                                        is given back, as in an arena */
    const uint64_t *seed;            /* makes the dependency's own draws the same
                                        in each run; NULL: seed from the kernel */

    /* The breaker went from one state to another. Called once for each
     * transition, never for a forced mode. */
    void (*on_breaker)(void *ctx, const bide_dep *dep, bide_breaker_state from,
                       bide_breaker_state to, int64_t now_ns);

    /* A place under limits.in_flight is free again, and calls are queueing for
     * it: the driver should ask bide_call_next() for one of those. */
    void (*on_place)(void *ctx, const bide_dep *dep);

    /* Several processes may share the state of a dependency. The last
     * bide_dep_shared_size() bytes of what alloc() gives are then memory that
     * all of them have mapped, at any address that 64 divides: all zero at
     * first, later as they left it. The host sees to it that no second one
     * looks at it before the first call of bide_dep_new_in() on it returned. */
    bool shared;             /* it is so */
    bool alone;              /* nobody else uses it now: what a process that was
                                killed still held is taken back */
} bide_host;

/* Makes a dependency run by a copy of *conf, named by a copy of `name` (any
 * string up to 255 bytes). On failure *ret_dep is untouched. BIDE_EINVAL,
 * BIDE_ENOMEM, BIDE_EENTROPY, or what bide_policy_check() says of conf. */
BIDE_API int bide_dep_new(bide_dep **ret_dep, const char *name,
                          const bide_policy_conf *conf);

/* The same, in surroundings of the caller's making. `host` is copied.
 * BIDE_ESTATE: the shared state was made by another version, or for a policy
 * with other windows or kinds. */
BIDE_API int bide_dep_new_in(bide_dep **ret_dep, const char *name,
                             const bide_policy_conf *conf,
                             const bide_host *host);

/* Frees a dependency that no call uses. NULL is fine. */
BIDE_API void bide_dep_free(bide_dep *dep);

/* Gives its own copy of the name that it was made with. */
BIDE_API const char *bide_dep_name(const bide_dep *dep);

/* Gives the policy that the dependency is run by, for as long as it lives. */
BIDE_API const bide_policy_conf *bide_dep_policy(const bide_dep *dep);

/* Tells how many bytes a dependency of this policy takes, its policy included;
 * 0 if the policy is refused. */
BIDE_API size_t bide_dep_size(const bide_policy_conf *conf);

/* Tells how many of those bytes may be shared between processes: they hold no
 * pointers. 0 if the policy is refused. */
BIDE_API size_t bide_dep_shared_size(const bide_policy_conf *conf);

/* The gauges. Each is a moment's view, and costs the callers nothing. */
BIDE_API bide_breaker_state bide_dep_breaker(const bide_dep *dep,
                                             int64_t now_ns);

/* What a breaker has counted: while it is closed, attempts over its window; while
 * it is half-open, the probes that have reported. Threads: owned. */
typedef struct bide_breaker_view {
    bide_breaker_state state; /* as bide_dep_breaker() */
    uint64_t attempts;
    uint64_t failed;          /* of those */
    uint64_t slow;            /* of those; while half-open always 0 */
    int64_t open_until_ns;    /* probes are let through from then on; 0 unless
                                 it is open */
    bide_breaker_mode mode;   /* as it was set last */
} bide_breaker_view;

/* Looks at the breaker. BIDE_EINVAL. */
BIDE_API int bide_dep_breaker_view(const bide_dep *dep, int64_t now_ns,
                                   bide_breaker_view *ret);

/* Retries that the budget would grant if they were asked for now;
 * BIDE_FOREVER if there is no budget. */
BIDE_API int64_t bide_dep_budget_left(const bide_dep *dep, int64_t now_ns);

/* Attempts a second that limits.adaptive_rate allows; infinite if it is off or
 * has not been throttled yet. */
BIDE_API double bide_dep_rate(const bide_dep *dep, int64_t now_ns);

/* Latency of first attempts over the last latency.window at quantile q (0 .. 1),
 * within 2 %; -1 if nothing was measured. */
BIDE_API int64_t bide_dep_latency(const bide_dep *dep, double q, int64_t now_ns);

/* Sets how the breaker works from now on; what it has counted stays. */
BIDE_API int bide_dep_force_breaker(bide_dep *dep, bide_breaker_mode mode);

/* Names a state: "half_open"; NULL if it is none. */
BIDE_API const char *bide_breaker_state_name(bide_breaker_state state);

BIDE_END_DECLS
#endif
