/* What drivers report about each call: one event for each attempt that ended,
 * with the decision that followed, one for each call, one for each state change
 * of a breaker. Log lines, spans and the dashboard's list of decisions are all
 * made from these.
 *
 *     struct bide__event *e = bide__ring_next(ring);   // ring.h
 *     if (e) {
 *         bide__event_attempt(e, attempt, why, &outcome, begin_ns, end_ns);
 *         bide__event_decision(e, &decision, &verdict);
 *         bide__event_put(e, BIDE__OPERATION, "GET /pay", 8);
 *         ...
 *         bide__ring_commit(ring);
 *     }
 *
 * Fixed in size and free of pointers: it is read later, on another thread, when
 * the request, its buffers and even the dependency may be gone. What does not
 * fit is truncated. */
#ifndef BIDE_OBSERVE_EVENT_EVENT_H
#define BIDE_OBSERVE_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/call.h"
#include "bide/outcome.h"

enum { BIDE__DEP_NAME = 128 }; /* the name of a dependency, and its NUL */

/* The texts of an event: X(name, maximum size in bytes, including NUL). */
#define BIDE__EVENT_TEXTS(X)                                                   \
    X(BIDE__DEP, BIDE__DEP_NAME)                                               \
    X(BIDE__OPERATION, 80) /* "GET /pay/17" */                                 \
    X(BIDE__REQUEST_ID, 48)                                                    \
    X(BIDE__ENDPOINT, 56)

enum bide__event_text {
#define X(name, size) name,
    BIDE__EVENT_TEXTS(X)
#undef X
    BIDE__N_TEXTS
};

enum {
#define X(name, size) +(size)
    BIDE__TEXT_ROOM = 1 BIDE__EVENT_TEXTS(X)
#undef X
};

enum bide__event_kind {
    BIDE__EVENT_ATTEMPT,
    BIDE__EVENT_CALL,
    BIDE__EVENT_BREAKER
};

/* Where a call stands in a trace; all zero is none. Threads: owned. */
struct bide__trace {
    uint8_t trace_id[16];
    uint8_t span_id[8];   /* of the call, or of the attempt */
    uint8_t parent_id[8]; /* zero: the trace begins here */
    bool sampled;         /* it is to be recorded */
};

/* Threads: owned; by one side of a ring at a time. */
struct bide__event {
    uint8_t kind;     /* a bide__event_kind */
    uint8_t action;   /* bide_action of the decision that followed */
    uint8_t reason;   /* bide_reason of that */
    uint8_t why;      /* bide_reason of this attempt: first, backoff, hedge */
    uint8_t cls;      /* bide_class of the outcome */
    uint8_t fault;    /* bide_fault */
    uint8_t from, to; /* BREAKER: bide_breaker_state */
    bool hinted;
    bool not_processed;
    bool delivery;     /* ATTEMPT: of a message: DEP is its queue, OPERATION its
                          id, ENDPOINT the kind of broker */
    bool http2;        /* CALL: the client spoke it; ATTEMPT: the endpoint */
    const char *stream; /* ATTEMPT: how its stream of HTTP/2 broke; static, or
                           NULL */
    bool rpc;          /* a gRPC call: the operation's path is its method */
    uint8_t grpc;      /* a bide_grpc + 1; 0: there was none */
    uint16_t status;   /* of HTTP; 0: there was none */
    uint32_t attempt;  /* ATTEMPT: its number; CALL: how many there were */
    uint32_t attempts; /* the maximum that the policy allows */
    int64_t begin_ns;  /* on the driver's monotonic clock */
    int64_t end_ns;
    int64_t elapsed_ns; /* ATTEMPT: since the call began, when it was decided */
    int64_t hint_ns;  /* what the server asked for, if hinted */
    int64_t computed_ns; /* the wait before this attempt: before jitter, ... */
    int64_t asked_ns;    /* ... as drawn, ... */
    int64_t slept_ns;    /* ... and actual; CALL: of all waits */
    int64_t value_ns; /* the wait after it: before jitter, ... */
    int64_t wait_ns;  /* ... as drawn */
    struct bide__trace trace;
    /* One text after the other, so that few cache lines move between the
     * threads: most are short. */
    uint16_t at[BIDE__N_TEXTS];  /* where each begins; 0: there is none */
    uint16_t len[BIDE__N_TEXTS]; /* without its NUL */
    uint16_t used;               /* of `texts` */
    char texts[BIDE__TEXT_ROOM]; /* the first byte is always 0 */
};

/* Starts a new event: all zero but what is given, and no texts. */
void bide__event_attempt(struct bide__event *e, uint32_t attempt,
                         bide_reason why, const bide_outcome *outcome,
                         int64_t begin_ns, int64_t end_ns);

/* Adds the decision that followed. The verdict has the wait; NULL if the
 * attempt succeeded. */
void bide__event_decision(struct bide__event *e, const bide_decision *decision,
                          const bide_verdict *verdict);

/* Starts the event of a call that ended. */
void bide__event_call(struct bide__event *e, uint32_t attempts,
                      bide_reason reason, const bide_outcome *last,
                      int64_t begin_ns, int64_t end_ns);

/* Starts the event of a breaker's state change, as from
 * bide_host.on_breaker. */
void bide__event_breaker(struct bide__event *e, const char *dep,
                         bide_breaker_state from, bide_breaker_state to,
                         int64_t now_ns);

/* Whether it contains a decision, to be listed and logged: after an attempt
 * that failed, or the refusal of a call before its first; or that a response
 * broke off, which no decision can change. */
bool bide__event_decides(const struct bide__event *e);

/* Whether it is a retry that succeeded: no decision, but its wait is worth a
 * line in the log. */
bool bide__event_saved(const struct bide__event *e);

/* Sets a text, once, cut to its size. */
void bide__event_put(struct bide__event *e, enum bide__event_text which,
                     const char *text, size_t len);

/* A text; "" if there is none. */
static inline const char *bide__event_get(const struct bide__event *e,
                                          enum bide__event_text which)
{
    return e->texts + e->at[which];
}

/* How much of a text fits into so many bytes, including NUL, without splitting
 * a character. */
size_t bide__event_fits(const char *text, size_t len, size_t size);

#endif
