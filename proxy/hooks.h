/* proxy/hooks.h: what happens in the sidecar, told where it happens.
 *
 *     struct proxy_hooks hooks = { .ctx = &metrics, .on_done = count_it };
 *     proxy_new(config, conf, &hooks, err, sizeof err);
 *
 * Called on a worker's thread, which must not be held up: no I/O, no lock that
 * anybody holds for long. Nothing that is passed lives longer than the call. */
#ifndef BIDE_PROXY_HOOKS_H
#define BIDE_PROXY_HOOKS_H

#include "bide/bide.h"

struct attempt;
struct exchange;

/* Each may be NULL. Threads: immutable. */
struct proxy_hooks {
    void *ctx;
    /* A decision, with the outcome that it follows (NULL before the first). */
    void (*on_decision)(void *ctx, const struct exchange *ex,
                        const bide_decision *d, const bide_outcome *last,
                        int64_t now_ns);
    /* An attempt has come to something: from a->begin_ns to now, at
     * a->pool->endpoint. */
    void (*on_attempt)(void *ctx, const struct exchange *ex,
                       const struct attempt *a, const bide_outcome *out,
                       int64_t now_ns);
    /* A request is over, its answer sent, or not. */
    void (*on_done)(void *ctx, const struct exchange *ex, int64_t now_ns);
    /* The breaker of a dependency (`upstream/policy`), or of an endpoint (its
     * URL), went from one state to another. */
    void (*on_breaker)(void *ctx, const bide_dep *dep, bide_breaker_state from,
                       bide_breaker_state to, int64_t now_ns);
};

#endif
