/* bide/call.h: one call, from its beginning to its end: what to do next, and why.
 *
 *     bide_call call;
 *     bide_call_begin(&call, dep, &(bide_op){ .idempotent = true }, now);
 *     for (;;) {
 *         bide_decision d = bide_call_next(&call, now);
 *         if (d.action == BIDE_DONE)
 *             break;                               // d.reason says why
 *         if (d.action == BIDE_WAIT) {
 *             now = wait_until(d.at_ns);
 *             continue;
 *         }
 *         bide_outcome out = try_it(d.timeout_ns);
 *         now = clock_ns();
 *         bide_call_report(&call, d.attempt, &out, now);
 *     }
 *     bide_call_end(&call, now);
 *
 * The engine never sleeps, never reads a clock and never does I/O: the caller is
 * told what to do, does it, and tells what came of it. `now` is nanoseconds on
 * any clock that does not jump, the same for all calls of a dependency. A clock
 * that stands still or steps back does no harm.
 *
 * Hedging needs nothing more: WAIT while an attempt runs means "ask again then,
 * or when it is finished"; TRY while one runs is the hedge; on DONE, stop the
 * attempts that still run.
 *
 * Blame: an attempt counts against a dependency (breaker, latency, budget,
 * limits) only for what the dependency did with time that it was given. Neutral,
 * each with a reason of its own:
 *
 *   client_timeout   the caller's deadline ended the attempt before it had nine
 *                    tenths of the time that the policy gives it
 *   upload           BIDE_FAULT_UPLOAD: the client did not deliver the body
 *   connection_wait  BIDE_FAULT_CONNECTION_WAIT: it stood in a line of ours
 *
 * A timeout that the policy itself sets counts, also that of a last retry which
 * the policy's deadline leaves little time: the dependency had the rest before,
 * and attempt_min says what is too little. A driver that holds attempts up says
 * with bide_call_started() when the dependency's time begins; the engine needs to
 * hear nothing else.
 *
 * Nothing here allocates, blocks or fails: a call that cannot go on is DONE. */
#ifndef BIDE_CALL_H
#define BIDE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "dep.h"
#include "outcome.h"
#include "rng.h"

BIDE_BEGIN_DECLS

/* Why a decision is what it is. X(name, key, in plain words)
 *
 * First why a call is done; those from `cancelled` to `budget` stand in the
 * order in which a failed attempt is judged: the first that applies decides.
 * The keys are what users see in logs, metrics, JSON and headers. They never
 * change. */
#define BIDE_REASONS(X)                                                        \
    X(BIDE_BECAUSE_SUCCESS, "success", "it worked")                            \
    X(BIDE_BECAUSE_CANCELLED, "cancelled", "the caller gave it up")            \
    X(BIDE_BECAUSE_CLIENT_TIMEOUT, "client_timeout",                           \
      "the caller gave it less time than the policy does")                     \
    X(BIDE_BECAUSE_UPLOAD, "upload",                                           \
      "the client did not deliver the request's body in time")                 \
    X(BIDE_BECAUSE_CONNECTION_WAIT, "connection_wait",                         \
      "no connection became free in time")                                     \
    X(BIDE_BECAUSE_PERMANENT, "permanent",                                     \
      "the same request would fail the same way")                              \
    X(BIDE_BECAUSE_SERVER_REFUSED, "server_refused",                           \
      "the server said not to retry")                                          \
    X(BIDE_BECAUSE_NOT_IDEMPOTENT, "not_idempotent",                           \
      "it may have been processed, and doing it twice would do harm")          \
    X(BIDE_BECAUSE_NOT_REPLAYABLE, "not_replayable",                           \
      "the body cannot be sent again")                                         \
    X(BIDE_BECAUSE_ATTEMPTS, "attempts", "no attempts are left")               \
    X(BIDE_BECAUSE_UPSTREAM_RETRIES, "upstream_retries",                       \
      "a layer above retries this request")                                    \
    X(BIDE_BECAUSE_NO_HINT, "no_hint",                                         \
      "throttled, and the server did not say for how long")                    \
    X(BIDE_BECAUSE_HINT_TOO_LONG, "hint_too_long",                             \
      "the server asks for a longer wait than the policy allows")              \
    X(BIDE_BECAUSE_DEADLINE, "deadline",                                       \
      "the wait and another attempt do not fit the deadline")                  \
    X(BIDE_BECAUSE_BREAKER_OPEN, "breaker_open", "the breaker is open")        \
    X(BIDE_BECAUSE_BUDGET, "budget", "the retry budget is spent")              \
    X(BIDE_BECAUSE_IN_FLIGHT, "in_flight", "too many attempts at once")        \
    X(BIDE_BECAUSE_LOCAL_THROTTLE, "local_throttle",                           \
      "most requests are being refused; not sending this one")                 \
    X(BIDE_BECAUSE_ADAPTIVE_RATE, "adaptive_rate",                             \
      "the rate that the server allows leaves no room before the deadline")    \
    X(BIDE_BECAUSE_SHED_RETRY, "shed_retry",                                   \
      "places are short, and this is a retry of a layer above")                \
    X(BIDE_BECAUSE_SHED_PRIORITY, "shed_priority",                             \
      "places are short, and kept for calls of a higher priority")             \
    /* why it goes on */                                                       \
    X(BIDE_BECAUSE_FIRST, "first", "the first attempt")                        \
    X(BIDE_BECAUSE_BACKOFF, "backoff", "waiting as the policy computes")       \
    X(BIDE_BECAUSE_HINT, "hint", "waiting as the server asked")                \
    X(BIDE_BECAUSE_IMMEDIATE, "immediate", "the first retry goes at once")     \
    X(BIDE_BECAUSE_HEDGE, "hedge", "the running attempt is slow")              \
    X(BIDE_BECAUSE_RUNNING, "running", "an attempt is running")                \
    X(BIDE_BECAUSE_QUEUED, "queued", "waiting for a place in flight")          \
    X(BIDE_BECAUSE_PACED, "paced", "waiting for the rate the server allows")   \
    /* what drivers say of a call that was decided: never decided here */      \
    X(BIDE_BECAUSE_CUT_SHORT, "cut_short",                                     \
      "the answer broke off after part of it had been passed on")

typedef enum bide_reason {
#define X(name, key, text) name,
    BIDE_REASONS(X)
#undef X
    BIDE_N_REASONS
} bide_reason;

typedef enum bide_action {
    BIDE_TRY,  /* make attempt `attempt` now, for at most `timeout_ns` */
    BIDE_WAIT, /* ask again at `at_ns`, or when a running attempt has ended */
    BIDE_DONE  /* no more attempts; stop those that still run */
} bide_action;

/* What to do next. Threads: owned. */
typedef struct bide_decision {
    bide_action action;
    bide_reason reason;
    uint32_t attempt;   /* TRY: its number, from 1 */
    int64_t timeout_ns; /* TRY: how long it may take; FOREVER: as long as it
                           likes */
    int64_t at_ns;      /* WAIT: until then; FOREVER: until something happens.
                           DONE: when a new call may fare better; FOREVER: not
                           known */
} bide_decision;

/* What the engine must know about an operation. All zero is the cautious choice:
 * not idempotent, no deadline but the policy's. Threads: owned. */
typedef struct bide_op {
    int64_t deadline_ns;  /* a point in time; 0: none. The earlier of this and
                             the policy's counts */
    const bide_rng *rng;  /* for this call's draws; NULL: the dependency's. Must
                             outlive the call */
    uint32_t upstream_attempt; /* the X-Bide-Attempt that came with the request
                             that this call serves; 0: none did */
    uint32_t attempts_made; /* earlier ones of the same operation, by a process
                             that is gone: a message that comes again, say */
    bool idempotent;      /* doing it twice does no harm */
    bool has_key;         /* it carries an idempotency key */
    bool one_shot_body;   /* its body cannot be sent again */
    bool body_pending;    /* its body is still coming from a client, who may hold
                             the attempt up for as long as he likes: it is not let
                             through as a probe of a breaker */
    int8_t priority;      /* 0: normal; over it, it goes before those that are
                             normal, below it after them (limits.reserve,
                             limits.shed) */
} bide_op;

/* A call, in the caller's memory, to be moved or copied never. The members are
 * bide's own. Threads: owned. */
typedef struct bide_call {
    uint64_t _private[32];
} bide_call;

/* Begins a call. Nothing is taken from the dependency yet. op NULL is a cautious
 * op. */
BIDE_API void bide_call_begin(bide_call *call, bide_dep *dep, const bide_op *op,
                              int64_t now_ns);

/* Says anew whether the operation is idempotent, has a key, and has a body that
 * cannot be sent again; the rest of op does not count. For drivers that learn it
 * only from the first attempt. It holds from the next decision on. */
BIDE_API void bide_call_set_op(bide_call *call, const bide_op *op);

/* Decides what to do next. To be asked at the beginning, after each report and
 * after each wait; asking more often does no harm. */
BIDE_API bide_decision bide_call_next(bide_call *call, int64_t now_ns);

/* Says that the dependency's time for attempt number `attempt` begins only now:
 * until now it stood in line for a connection, or the client was still to deliver
 * the body. What passed before is not charged to the dependency. How long the
 * attempt may take from now on is in *ret_timeout_ns, as TRY says it (may be
 * NULL). May be said again; a driver that never holds an attempt up has no need
 * for it. BIDE_ESTATE if no such attempt runs. */
BIDE_API int bide_call_started(bide_call *call, uint32_t attempt,
                               int64_t now_ns, int64_t *ret_timeout_ns);

/* Gives an outcome as the rule of blame will count it if it is reported now: with
 * class IGNORED where it says nothing about the dependency. For drivers that keep
 * books of their own, about an endpoint say. Nothing changes, and what is to be
 * reported is the outcome itself. */
BIDE_API bide_outcome bide_call_blame(const bide_call *call, uint32_t attempt,
                                      const bide_outcome *outcome,
                                      int64_t now_ns);

/* Tells what attempt number `attempt` came to. Feeds breaker, budget, limits,
 * latency and counters. BIDE_ESTATE if no such attempt runs: it was reported
 * before, or never begun; nothing is counted then. */
BIDE_API int bide_call_report(bide_call *call, uint32_t attempt,
                              const bide_outcome *outcome, int64_t now_ns);

/* Gives the call up: the next decision is DONE, `cancelled`. A retry that was
 * waiting gives its budget back. Without effect on a call that is done. */
BIDE_API void bide_call_cancel(bide_call *call);

/* Says that no further attempt is wanted: those that run go on, or the first is
 * made, and what comes of it is the end. For a caller who may still hear, but will
 * not wait. A retry that is waiting already is not taken back: see above. */
BIDE_API void bide_call_no_more(bide_call *call);

/* Ends a call, whatever its state, and gives back all that it still holds;
 * attempts that were not reported count as ignored. Once for each begin. */
BIDE_API void bide_call_end(bide_call *call, int64_t now_ns);

/* How the call stands. */
BIDE_API uint32_t bide_call_attempts(const bide_call *call); /* begun so far */
BIDE_API int64_t bide_call_deadline(const bide_call *call);  /* or FOREVER */

/* Whether the operation may be sent once more, to somebody else: it was certainly
 * not processed or is safe to repeat, and its body is still there. For drivers
 * that know another server when a call is done. The rules are those by which a
 * failed attempt is judged: not_idempotent, not_replayable. */
BIDE_API bool bide_call_repeatable(const bide_call *call);

/* What the last failed attempt was judged by, for those who want to show it. */
typedef struct bide_verdict {
    bide_reason reason;      /* why no retry, or why after this wait */
    bide_class cls;          /* of the failure */
    int64_t value_ns;        /* the wait before jitter */
    int64_t wait_ns;         /* the wait, as drawn */
    int64_t wait_min_ns;     /* the range that it was drawn from */
    int64_t wait_max_ns;
} bide_verdict;

/* Gives the verdict on the last failure. BIDE_ESTATE if there was none yet.
 * To be asked after the bide_call_next() that followed it. */
BIDE_API int bide_call_verdict(const bide_call *call, bide_verdict *ret);

/* Names a reason ("hint_too_long") and says it in plain words; NULL if it is
 * none. */
BIDE_API const char *bide_reason_name(bide_reason reason);
BIDE_API const char *bide_reason_text(bide_reason reason);

/* Tells whether it was bide that refused, and nobody who was asked: breaker,
 * budget, in-flight cap, local throttle, adaptive rate, shedding, connection
 * wait. Whoever passes such an end on to a caller says that it is not to be retried
 * (503, X-Bide-Retry: no), or each layer above would add its retries to what was
 * just held back. */
BIDE_API bool bide_reason_is_refusal(bide_reason reason);

BIDE_END_DECLS
#endif
