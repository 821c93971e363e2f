/* bide/dep.h: a dependency: whatever is being called, and the state that its
 * callers share about it.
 *
 *     bide_dep *dep;
 *     int rc = bide_dep_new(&dep, "payments", &conf);
 *     if (rc < 0)
 *         die(bide_strerror(rc));
 *     ...                              // bide_call_begin(&call, dep, ...)
 *     bide_dep_free(dep);              // when no call uses it any more
 *
 * Create one dependency for each thing that can fail independently: a host, a
 * shard, a database. All its calls, from all threads, share it without
 * locks.
 *
 * After fork() the child has a copy of it, which goes its own way: breaker,
 * budget and counters begin as they were in the parent and are counted apart,
 * and the draws differ, because the child's generator is seeded anew (unless
 * bide_host.seed is set). Calls that were running belong to the parent: the
 * child must neither continue nor end them, and what they held (places in
 * flight, probes, budget in waiting retries) stays held in the copy; probes and
 * budget expire, places do not. So a server that forks its workers creates its
 * dependencies after the fork, or before the first call; to have them share one
 * state, see bide_host.shared. The same goes for bide_curl_multi. Threads are not
 * copied by fork(), so an exporter or an admin endpoint (bide/observe.h) runs in
 * the parent alone. exec() is no concern: nothing is inherited. */
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
#define BIDE__X(name, key) name,
    BIDE_BREAKER_STATES(BIDE__X)
#undef BIDE__X
} bide_breaker_state;

/* What the engine needs from its host, and what it reports to it. Any member
 * may be NULL. The hooks are called from inside bide functions, on the calling
 * thread, with nothing locked: they may call bide again, even for the same
 * dependency, but must not free it. Threads: immutable. */
typedef struct bide_host {
    void *ctx;                       /* passed to every hook */
    void *(*alloc)(void *ctx, size_t size); /* NULL: malloc, and free */
    void (*release)(void *ctx, void *memory); /* goes with alloc; NULL: memory
                                        is not released, as in an arena */
    const uint64_t *seed;            /* makes the dependency's draws the same in
                                        each run; NULL: seed from the kernel */

    /* The breaker changed state. Called once for each transition, never for a
     * forced mode. */
    void (*on_breaker)(void *ctx, const bide_dep *dep, bide_breaker_state from,
                       bide_breaker_state to, int64_t now_ns);

    /* A place under limits.in_flight is free again, and calls are queueing for
     * it: the driver should call bide_call_next() for one of them. */
    void (*on_place)(void *ctx, const bide_dep *dep);

    /* Several processes may share the state of a dependency. The last
     * bide_dep_shared_size() bytes of what alloc() returns are then memory that
     * all of them have mapped, at any multiple of 64: all zero at first, later
     * as they left it. The host must ensure that no second process uses it
     * before the first bide_dep_new_in() on it has returned. */
    bool shared;             /* the state is shared */
    bool alone;              /* no other process uses it now: whatever a killed
                                process still held is reclaimed */
} bide_host;

/* Creates a dependency with a copy of *conf, named by a copy of `name` (any
 * string up to 255 bytes). On failure *ret_dep is untouched. BIDE_EINVAL,
 * BIDE_ENOMEM, BIDE_EENTROPY, or the result of bide_policy_check(). */
BIDE_API int bide_dep_new(bide_dep **ret_dep, const char *name,
                          const bide_policy_conf *conf);

/* The same, with the caller's own host. `host` is copied. BIDE_ESTATE: the
 * shared state was created by another version, or for a policy with other
 * windows or kinds that another process may be using; alone, it is taken over
 * as bide_dep_inherit() would. */
BIDE_API int bide_dep_new_in_sized(bide_dep **ret_dep, const char *name,
                                   const bide_policy_conf *conf,
                                   const bide_host *host, size_t host_size);
static inline int bide_dep_new_in(bide_dep **ret_dep, const char *name,
                                  const bide_policy_conf *conf,
                                  const bide_host *host)
{
    return bide_dep_new_in_sized(ret_dep, name, conf, host, sizeof *host);
}

/* Frees a dependency that no call uses. NULL is fine. */
BIDE_API void bide_dep_free(bide_dep *dep);

/* Returns the dependency's own copy of its name. */
BIDE_API const char *bide_dep_name(const bide_dep *dep);

/* Returns the policy of the dependency, valid for as long as it lives. */
BIDE_API const bide_policy_conf *bide_dep_policy(const bide_dep *dep);

/* Returns how many bytes a dependency with this policy takes, including the
 * policy; 0 if the policy is invalid. */
BIDE_API size_t bide_dep_size(const bide_policy_conf *conf);

/* Returns how many of those bytes may be shared between processes: they hold no
 * pointers. 0 if the policy is invalid. */
BIDE_API size_t bide_dep_shared_size(const bide_policy_conf *conf);

/* The gauges. Each is a momentary view, and costs the callers nothing. */
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
    bide_breaker_mode mode;   /* as last set */
} bide_breaker_view;

/* Returns the state of the breaker. BIDE_EINVAL. */
BIDE_API int bide_dep_breaker_view_sized(const bide_dep *dep, int64_t now_ns,
                                         bide_breaker_view *ret, size_t size);
static inline int bide_dep_breaker_view(const bide_dep *dep, int64_t now_ns,
                                        bide_breaker_view *ret)
{
    return bide_dep_breaker_view_sized(dep, now_ns, ret, sizeof *ret);
}

/* Returns for how long nothing has accepted a connection, in ns; 0 if something
 * did, or if nobody has tried for ten seconds. Calls wait meanwhile
 * (unreachable.wait), and are refused afterwards. */
BIDE_API int64_t bide_dep_unreachable(const bide_dep *dep, int64_t now_ns);

/* Returns how many retries the budget would grant if they were requested now;
 * BIDE_FOREVER if there is no budget. */
BIDE_API int64_t bide_dep_budget_left(const bide_dep *dep, int64_t now_ns);

/* How much of a budget is spent, and of how much, in its own unit: retries over
 * the window (window), tokens (quota, throttle), retries outstanding
 * (in_flight). Threads: owned. */
typedef struct bide_budget_view {
    bide_budget_kind kind;
    double spent;  /* may be over `all`, if there was more when it was spent */
    double all;    /* 0 if there is no budget */
} bide_budget_view;

/* Returns the state of the budget. BIDE_EINVAL. */
BIDE_API int bide_dep_budget_view(const bide_dep *dep, int64_t now_ns,
                                  bide_budget_view *ret);

/* Returns how many attempts a second limits.adaptive_rate allows; infinite if
 * it is off or has not been throttled yet. */
BIDE_API double bide_dep_rate(const bide_dep *dep, int64_t now_ns);

/* Latency of first attempts over the last latency.window at quantile q (0 .. 1),
 * within 2 %; -1 if nothing was measured. */
BIDE_API int64_t bide_dep_latency(const bide_dep *dep, double q, int64_t now_ns);

/* Returns how many attempts at once are allowed now: the smaller of in_flight and
 * what limits.adaptive has come to; BIDE_UNLIMITED if neither is set. */
BIDE_API uint32_t bide_dep_in_flight_limit(const bide_dep *dep);

/* Turns all retries and hedges of the dependency off, or on again; at first they
 * are on. First attempts are made as ever. Calls that fail while they are off end
 * with the reason `retries_off`, and so do those that wait for a retry, when the
 * wait is over. Applies to all processes that share the dependency. BIDE_EINVAL. */
BIDE_API int bide_dep_set_retries(bide_dep *dep, bool on);

/* Returns whether they are on. */
BIDE_API bool bide_dep_retries(const bide_dep *dep);

/* Sets the mode of the breaker from now on; its counts are kept. */
BIDE_API int bide_dep_force_breaker(bide_dep *dep, bide_breaker_mode mode);

/* Lets the probes of an open breaker go out now instead of when its time is
 * over: for an operator who knows that the dependency is back. BIDE_EINVAL;
 * BIDE_ESTATE: the breaker is not open, or is forced to be. */
BIDE_API int bide_dep_probe_now(bide_dep *dep, int64_t now_ns);

/* Returns the name of a state: "half_open"; NULL if there is no such state. */
BIDE_API const char *bide_breaker_state_name(bide_breaker_state state);

BIDE_END_DECLS
#endif
