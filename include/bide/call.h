/* bide/call.h: one call, from beginning to end: what to do next, and why.
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
 * The engine never sleeps, never reads a clock and never does I/O: it tells the
 * caller what to do, the caller does it and reports the outcome. `now` is
 * nanoseconds on any clock that does not jump, the same for all calls of a
 * dependency. A clock that stands still or steps back does no harm.
 *
 * Hedging needs nothing more: WAIT while an attempt runs means "ask again then,
 * or when it has ended"; TRY while one runs is the hedge; on DONE, stop the
 * attempts that are still running.
 *
 * Blame: an attempt counts against a dependency (breaker, latency, budget,
 * limits) only for what the dependency did with the time it was given. These
 * outcomes are neutral, each with its own reason:
 *
 *   client_timeout   the caller's deadline ended the attempt before it had nine
 *                    tenths of the time that the policy allows it
 *   upload           BIDE_FAULT_UPLOAD: the client did not deliver the body
 *   connection_wait  BIDE_FAULT_CONNECTION_WAIT: it waited for a connection
 *
 * A timeout that the policy itself sets counts, even that of a last retry to
 * which the policy's deadline leaves little time: the dependency had the rest
 * before, and attempt_min says how little is too little. A driver that delays
 * attempts calls bide_call_started() when the dependency's time begins; the
 * engine needs to know nothing else.
 *
 * Nobody there: an attempt that provably reached no server (`not_processed`, and
 * the fault is dns, connect, reset or timeout) asked it for no work. Under
 * policy.unreachable it counts for nothing, and another takes its place once the
 * dependency is back; until then the calls are told to WAIT, `knocking`, and one
 * at a time is told to TRY. A restart loses no call.
 *
 * Not begun: an HTTP/2 server says so with REFUSED_STREAM, and its GOAWAY proves
 * it (BIDE_FAULT_REFUSED_STREAM). Whatever the method, such an attempt is made
 * again at once, `not_processed`. The first of a call is free: it costs neither an
 * attempt nor budget, and does not count for the breaker. From the second on they
 * are attempts like any other.
 *
 * Nothing here allocates, blocks or fails: a call that cannot continue is
 * DONE. */
#ifndef BIDE_CALL_H
#define BIDE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "dep.h"
#include "outcome.h"
#include "rng.h"

BIDE_BEGIN_DECLS

/* The reason for a decision. X(name, key, in plain words)
 *
 * First come the reasons why a call is done; those from `cancelled` to
 * `unreachable` are in the order in which a failed attempt is judged: the first that applies
 * decides. The keys are what users see in logs, metrics, JSON and headers. They
 * never change. */
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
    X(BIDE_BECAUSE_RETRIES_OFF, "retries_off",                                 \
      "retries are switched off for this dependency")                          \
    X(BIDE_BECAUSE_NO_HINT, "no_hint",                                         \
      "throttled, and the server did not say for how long")                    \
    X(BIDE_BECAUSE_HINT_TOO_LONG, "hint_too_long",                             \
      "the server asks for a longer wait than the policy allows")              \
    X(BIDE_BECAUSE_DEADLINE, "deadline",                                       \
      "the wait and another attempt do not fit the deadline")                  \
    X(BIDE_BECAUSE_BREAKER_OPEN, "breaker_open", "the breaker is open")        \
    X(BIDE_BECAUSE_BUDGET, "budget", "the retry budget is spent")              \
    X(BIDE_BECAUSE_UNREACHABLE, "unreachable",                                 \
      "nothing has accepted a connection for too long")                        \
    X(BIDE_BECAUSE_IN_FLIGHT, "in_flight", "too many attempts at once")        \
    X(BIDE_BECAUSE_LOCAL_THROTTLE, "local_throttle",                           \
      "most requests are being refused; not sending this one")                 \
    X(BIDE_BECAUSE_ADAPTIVE_RATE, "adaptive_rate",                             \
      "the rate that the server allows leaves no room before the deadline")    \
    X(BIDE_BECAUSE_RATE, "rate",                                               \
      "the policy's rate leaves no room in the time there is")                 \
    X(BIDE_BECAUSE_SHED_RETRY, "shed_retry",                                   \
      "places are short, and this is a retry of a layer above")                \
    X(BIDE_BECAUSE_SHED_PRIORITY, "shed_priority",                             \
      "places are short, and kept for calls of a higher priority")             \
    /* why it continues */                                                       \
    X(BIDE_BECAUSE_FIRST, "first", "the first attempt")                        \
    X(BIDE_BECAUSE_BACKOFF, "backoff", "waiting as the policy computes")       \
    X(BIDE_BECAUSE_HINT, "hint", "waiting as the server asked")                \
    X(BIDE_BECAUSE_IMMEDIATE, "immediate", "the first retry goes at once")     \
    X(BIDE_BECAUSE_HEDGE, "hedge", "the running attempt is slow")              \
    X(BIDE_BECAUSE_RUNNING, "running", "an attempt is running")                \
    X(BIDE_BECAUSE_QUEUED, "queued", "waiting for a place in flight")          \
    X(BIDE_BECAUSE_PACED, "paced", "waiting for its turn under a rate limit")  \
    X(BIDE_BECAUSE_KNOCKING, "knocking",                                       \
      "waiting until connections are accepted again")                          \
    X(BIDE_BECAUSE_HELD, "held",                                               \
      "waiting until breaker, budget or limits let it go")                     \
    X(BIDE_BECAUSE_NOT_PROCESSED, "not_processed",                             \
      "the server did not begin with it: it goes again at once")               \
    /* what drivers report of a call that was decided: never decided here */      \
    X(BIDE_BECAUSE_CUT_SHORT, "cut_short",                                     \
      "the answer broke off after part of it had been passed on")

typedef enum bide_reason {
#define BIDE__X(name, key, text) name,
    BIDE_REASONS(BIDE__X)
#undef BIDE__X
    BIDE_N_REASONS
} bide_reason;

typedef enum bide_action {
    BIDE_TRY,  /* make attempt `attempt` now, for at most `timeout_ns` */
    BIDE_WAIT, /* ask again at `at_ns`, or when a running attempt has ended */
    BIDE_DONE  /* no more attempts; stop those that are still running */
} bide_action;

/* What to do next. Threads: owned. */
typedef struct bide_decision {
    bide_action action;
    bide_reason reason;
    uint32_t attempt;   /* TRY: its number, from 1 */
    int64_t timeout_ns; /* TRY: how long it may take; FOREVER: no limit */
    int64_t at_ns;      /* WAIT: until then; FOREVER: until something happens.
                           DONE: when a new call may do better; FOREVER:
                           unknown */
} bide_decision;

/* What the engine needs to know about an operation. All zero is the cautious
 * choice: not idempotent, no deadline but the policy's. Threads: owned. */
typedef struct bide_op {
    int64_t deadline_ns;  /* a point in time; 0: none. The earlier of this and
                             the policy's applies */
    const bide_rng *rng;  /* for this call's draws; NULL: the dependency's. Must
                             outlive the call */
    uint32_t upstream_attempt; /* a layer above owns the retries of the request
                             that this call serves, and this is its attempt;
                             0: none does. See bide/claim.h */
    uint32_t attempts_made; /* earlier attempts of the same operation, by a
                             process that is gone: a redelivered message, say */
    bool idempotent;      /* it is safe to repeat */
    bool has_key;         /* it carries an idempotency key */
    bool one_shot_body;   /* its body cannot be sent again */
    bool body_pending;    /* its body is still arriving from a client, which may
                             delay the attempt indefinitely: it is used as a
                             probe of a breaker only if no other call is for as
                             long as breaker.open_max */
    int8_t priority;      /* 0: normal; above, it is served before normal calls,
                             below, after them (limits.reserve, limits.shed) */
    uint32_t upstream_max; /* attempts that the owner may make; 0: not known */
    uint64_t _room[5];
} bide_op;

/* A call, in the caller's memory; never move or copy it. The members are
 * private. Threads: owned. */
typedef struct bide_call {
    uint64_t _private[32];
} bide_call;

/* Begins a call. Takes nothing from the dependency yet. op NULL is a cautious
 * op. */
BIDE_API void bide_call_begin(bide_call *call, bide_dep *dep, const bide_op *op,
                              int64_t now_ns);

/* Changes whether the operation is idempotent, has a key, and has a body that
 * cannot be sent again; the rest of op is ignored. For drivers that learn this
 * only from the first attempt. Applies from the next decision on. */
BIDE_API void bide_call_set_op(bide_call *call, const bide_op *op);

/* Decides what to do next. Ask at the beginning, after each report and after
 * each wait; asking more often does no harm. */
BIDE_API bide_decision bide_call_next(bide_call *call, int64_t now_ns);

/* Says that the dependency's time for attempt number `attempt` begins only now:
 * until now it waited for a connection, or for the client to deliver the body.
 * The time before is not charged to the dependency. *ret_timeout_ns (may be
 * NULL) is set to how long the attempt may take from now on, as in TRY. May be
 * called repeatedly; a driver that never delays attempts does not need it.
 * BIDE_ESTATE if no such attempt is running. */
BIDE_API int bide_call_started(bide_call *call, uint32_t attempt,
                               int64_t now_ns, int64_t *ret_timeout_ns);

/* Returns an outcome as it would be counted if it were reported now: with class
 * IGNORED if it says nothing about the dependency. For drivers that keep their
 * own records, of an endpoint for example. Changes nothing; report the outcome
 * itself. */
BIDE_API bide_outcome bide_call_blame(const bide_call *call, uint32_t attempt,
                                      const bide_outcome *outcome,
                                      int64_t now_ns);

/* Reports the outcome of attempt number `attempt`. Feeds breaker, budget,
 * limits, latency and counters. BIDE_ESTATE if no such attempt is running: it
 * was already reported, or never begun; nothing is counted then. BIDE_EINVAL if
 * the outcome is missing or invalid: the attempt ends all the same, as a
 * permanent failure that counts against nobody. */
BIDE_API int bide_call_report(bide_call *call, uint32_t attempt,
                              const bide_outcome *outcome, int64_t now_ns);

/* Cancels the call: the next decision is DONE, `cancelled`. A retry that was
 * waiting returns its budget. Has no effect on a call that is done. */
BIDE_API void bide_call_cancel(bide_call *call);

/* Asks for no further attempts: those that are running continue, or the first
 * is made, and its outcome is the end. For a caller that can still receive the
 * result, but will not wait. A retry that is already waiting is not cancelled:
 * see above. */
BIDE_API void bide_call_no_more(bide_call *call);

/* Ends a call in any state, and releases all that it still holds; attempts that
 * were not reported count as ignored. Call it once for each begin. */
BIDE_API void bide_call_end(bide_call *call, int64_t now_ns);

/* The state of the call. */
BIDE_API uint32_t bide_call_attempts(const bide_call *call); /* begun so far */
BIDE_API uint32_t bide_call_missed(const bide_call *call); /* of those, that
                          reached nobody and do not count against `attempts` */
BIDE_API int64_t bide_call_deadline(const bide_call *call);  /* or FOREVER */

/* Returns why the hedge that was due last was not sent: the call goes on without
 * further ones. BIDE_BECAUSE_SUCCESS if none was refused, or the call is done. */
BIDE_API bide_reason bide_call_hedge_refused(const bide_call *call);

/* Returns whether the operation may be sent once more, to another server: it
 * was certainly not processed or is safe to repeat, and its body is still
 * available. For drivers with an alternative server when a call is done. The
 * rules are those for a failed attempt: not_idempotent, not_replayable. */
BIDE_API bool bide_call_repeatable(const bide_call *call);

/* How the last failed attempt was judged, for display. */
typedef struct bide_verdict {
    bide_reason reason;      /* why no retry, or why after this wait */
    bide_class cls;          /* of the failure */
    int64_t value_ns;        /* the wait before jitter */
    int64_t wait_ns;         /* the wait that was drawn */
    int64_t wait_min_ns;     /* the range that it was drawn from */
    int64_t wait_max_ns;
    bide_after after;        /* whose backoff applied: that of ... */
    bool by_wait_fn;         /* the program's own function said the value */
} bide_verdict;

/* Returns the verdict on the last failure. BIDE_ESTATE if there was none yet.
 * Call it after the bide_call_next() that followed the failure. */
BIDE_API int bide_call_verdict_sized(const bide_call *call, bide_verdict *ret,
                                     size_t size);
static inline int bide_call_verdict(const bide_call *call, bide_verdict *ret)
{
    return bide_call_verdict_sized(call, ret, sizeof *ret);
}

/* Return the name of a reason ("hint_too_long"), and its text in plain words;
 * NULL if there is no such reason. Of a negative one, which is a BIDE_E... that a
 * driver returns in place of a reason, the name and text of that error. */
BIDE_API const char *bide_reason_name(bide_reason reason);
BIDE_API const char *bide_reason_text(bide_reason reason);

/* Returns whether bide itself refused, without asking a server: breaker,
 * budget, in-flight cap, local throttle, rates, shedding, connection wait,
 * unreachable, and retries switched off. If you pass such an end on to a caller,
 * say that it must not be retried
 * (503, X-Bide-Retry: no), or each layer above would add its retries to the
 * load that was just held back. */
BIDE_API bool bide_reason_is_refusal(bide_reason reason);

BIDE_END_DECLS
#endif
