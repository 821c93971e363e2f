/* What a program lets others see of it, and do to it: the only thing that it
 * must implement to have metrics, a dashboard and an admin endpoint.
 *
 *     static const struct bide__observed *hold(void *ctx) { ... }
 *     static void release(void *ctx, const struct bide__observed *o) { ... }
 *     struct bide__source source = { .program = "bide proxy", .ctx = proxy,
 *                                    .hold = hold, .release = release };
 *
 * The functions are called from the threads of the collector, the exporter and
 * the admin endpoint, never from one that serves requests. */
#ifndef BIDE_OBSERVE_EVENT_SOURCE_H
#define BIDE_OBSERVE_EVENT_SOURCE_H

#include "bide/policy.h"
#include "observe/event/observed.h"

/* Threads: immutable. */
struct bide__source {
    const char *program; /* "bide proxy" */
    const char *file;    /* that its policies are in, as bide explain takes it;
                            or NULL */
    void *ctx;           /* passed to each function */

    /* Returns the current list; nothing in it may be freed until `release`.
     * Several threads may hold it at once. NULL: no memory. */
    const struct bide__observed *(*hold)(void *ctx);
    void (*release)(void *ctx, const struct bide__observed *observed);

    /* Whether it accepts requests; NULL: always. */
    bool (*ready)(void *ctx);
    bool (*draining)(void *ctx);

    /* Whether all parts make progress; or false, and which does not. NULL:
     * always. */
    bool (*healthy)(void *ctx, char *why, size_t size);

    /* Actions; NULL: not available. Each returns true, or writes why not. */
    bool (*force)(void *ctx, const char *dep, bide_breaker_mode mode, char *why,
                  size_t size);
    bool (*retries)(void *ctx, const char *dep, bool on, char *why,
                    size_t size);
    bool (*probe)(void *ctx, const char *dep, char *why, size_t size);
    bool (*fault)(void *ctx, const char *dep, bool on, char *why, size_t size);
    bool (*drain)(void *ctx, char *why, size_t size);
    bool (*reload)(void *ctx, char *why, size_t size);
};

#endif
