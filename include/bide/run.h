/* bide/run.h: retries around any blocking function (libbide-run).
 *
 *     static bide_outcome ask(void *arg, const bide_attempt *attempt)
 *     {
 *         int rc = query(arg, attempt->timeout_ns);
 *         return rc == 0 ? BIDE_OUTCOME_SUCCESS
 *                        : bide_outcome_errno(errno, false);
 *     }
 *     ...
 *     if (bide_run(dep, ask, &q, NULL) != BIDE_BECAUSE_SUCCESS)
 *         ...                    // the reason why there is no further attempt
 *
 * The calling thread makes the attempts and sleeps in between, to absolute
 * times on the monotonic clock, and can be woken at any moment. Hedging needs
 * concurrent attempts and so is not available here: use the curl driver, or
 * your own loop around bide/call.h. */
#ifndef BIDE_RUN_H
#define BIDE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "dep.h"
#include "outcome.h"

BIDE_BEGIN_DECLS

/* ===== clocks ===== */

/* Nanoseconds on the monotonic clock: the `now` of every driver here. */
BIDE_API int64_t bide_now_ns(void);

/* Seconds since 1970, for reading dates; milliseconds, for deadlines in
 * baggage. */
BIDE_API int64_t bide_wall_s(void);
BIDE_API int64_t bide_wall_ms(void);

/* ===== cancelling ===== */

/* A cancellation token: in the caller's memory, for one call or for many. All
 * zero is a valid one that is not cancelled. Threads: shared. */
typedef struct bide_cancel {
    uint32_t _cancelled;
} bide_cancel;

/* Cancels whatever waits on it, at once and permanently. May be called from any
 * thread, and from a signal handler. */
BIDE_API void bide_cancel_now(bide_cancel *cancel);

/* Returns whether it was cancelled. */
BIDE_API bool bide_cancelled(const bide_cancel *cancel);

/* Sleeps until `at_ns` (or BIDE_FOREVER), or until it is cancelled. True if the
 * time has come, false if it was cancelled. cancel may be NULL. */
BIDE_API bool bide_sleep_until(int64_t at_ns, bide_cancel *cancel);

/* ===== running ===== */

/* What an attempt needs to know. */
typedef struct bide_attempt {
    uint32_t number;        /* from 1 */
    int64_t timeout_ns;     /* how long it may take; FOREVER */
    int64_t deadline_ns;    /* when the whole call ends; FOREVER */
    bide_cancel *cancel;    /* what the caller may cancel; NULL: nothing */
} bide_attempt;

/* Makes one attempt, and returns its outcome. Called on the thread that called
 * bide_run(), never concurrently for one call, never after it returned. */
typedef bide_outcome (*bide_run_fn)(void *arg, const bide_attempt *attempt);

/* Called for each decision, if set; `last` is the outcome that it follows, NULL
 * before the first attempt. */
typedef void (*bide_decision_fn)(void *ctx, const bide_decision *decision,
                                 const bide_outcome *last, int64_t now_ns);

/* How a run ended. */
typedef struct bide_run_result {
    bide_reason reason;
    uint32_t attempts;
    bide_outcome last;      /* of the last attempt; zero if there was none */
    int64_t took_ns;
    int64_t waited_ns;      /* requested ... */
    int64_t slept_ns;       /* ... and actual */
    uint64_t _room[4];
} bide_run_result;

/* All zero, or NULL, is the cautious choice. */
typedef struct bide_run_opts {
    bide_op op;
    bide_cancel *cancel;
    bide_decision_fn on_decision;
    void *ctx;              /* of on_decision */
    bide_run_result *result; /* filled in at the end; or NULL */
} bide_run_opts;

/* Runs `fn` until it succeeds or the dependency's policy says stop. If an
 * argument is invalid it is not run: the result is then a negative error, cast
 * to a reason (BIDE_EINVAL, BIDE_ESIZE), which bide_reason_name() knows too. */
BIDE_API bide_reason bide_run_sized(bide_dep *dep, bide_run_fn fn, void *arg,
                                    const bide_run_opts *opts, size_t size);
static inline bide_reason bide_run(bide_dep *dep, bide_run_fn fn, void *arg,
                                   const bide_run_opts *opts)
{
    return bide_run_sized(dep, fn, arg, opts, sizeof *opts);
}

/* Creates a dependency whose queue under limits.in_flight wakes the threads
 * that wait in bide_run(); with any other dependency they poll every few
 * milliseconds. */
BIDE_API int bide_run_dep_new(bide_dep **ret_dep, const char *name,
                              const bide_policy_conf *conf);

/* The hooks that do so, for use in your own host. */
BIDE_API void bide_run_on_place(void *ctx, const bide_dep *dep);

/* Writes a new idempotency key (a random UUID, 36 characters and NUL). The value
 * of an Idempotency-Key field is a structured-field string: send the key in
 * double quotes, as bide's own drivers do. BIDE_EENTROPY. */
BIDE_API int bide_key_new(char key[37]);

BIDE_END_DECLS
#endif
