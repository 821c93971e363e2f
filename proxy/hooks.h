/* proxy/hooks.h: notifications about dependencies. Those about requests are in
 * events.h.
 *
 *     struct proxy_hooks hooks = { .on_breaker = event_breaker };
 *     proxy_new(config, conf, &hooks, err, sizeof err);
 *
 * Called on a worker's thread, which must not be delayed: no I/O, no lock that
 * is held for long. Nothing that is passed lives longer than the call. */
#ifndef BIDE_PROXY_HOOKS_H
#define BIDE_PROXY_HOOKS_H

#include "bide/bide.h"

struct dep_memory;
struct once_store;

/* Threads: immutable. */
struct proxy_hooks {
    void *ctx;
    /* The breaker of a dependency (`upstream/policy`), or of an endpoint (its
     * URL), changed state. NULL: not needed. */
    void (*on_breaker)(void *ctx, const bide_dep *dep, bide_breaker_state from,
                       bide_breaker_state to, int64_t now_ns);
    /* The dependency of an upstream was made (true), or is about to be freed:
     * for the fleet that it is in. On any thread. NULL: not needed. */
    void (*on_dep)(void *fleet, bide_dep *dep, bool made);
    void *fleet;
    /* Where breakers and budgets outlive the process. NULL: nowhere. */
    struct dep_memory *memory;
    /* Where keys are remembered, if that was opened already. NULL: it is opened
     * when a route accepts any. */
    struct once_store *store;
    /* The store does not answer, or does again: `why` is then NULL. From its own
     * thread. NULL: not needed. */
    void (*on_store)(void *ctx, bool up, const char *why);
    /* A line of the configuration that would help, once. NULL: not needed. */
    void (*on_advice)(void *ctx, const char *text);
};

#endif
