/* The internals of a call: its state, and the interface between call.c (which
 * decides) and attempt.c (which keeps the records of attempts). */
#ifndef BIDE_LIB_CALL_H
#define BIDE_LIB_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/call.h"
#include "lib/dep.h"

#if defined(__GNUC__)
#define BIDE__OUT_OF_LINE __attribute__((noinline))
#else
#define BIDE__OUT_OF_LINE
#endif

/* The first attempt and four hedges. */
enum { BIDE__RUNNING_MAX = 5 };

/* An attempt that has not been reported. */
struct bide__running {
    int64_t start_ns;
    uint32_t attempt;
    uint32_t tokens;     /* its cost, of a quota */
    uint16_t generation; /* of the breaker, when it was let through */
    int8_t probe;        /* its place among the probes, or -1 */
    bool place;          /* it holds one under limits.in_flight */
    bool paid;           /* it is a retry or hedge that the budget granted */
    bool knock;          /* it finds out whether the gate can be opened */
};

enum bide__call_state {
    BIDE__READY,   /* may make an attempt, if it is let through */
    BIDE__WAITING, /* may do so at at_ns */
    BIDE__RUNNING, /* an attempt runs */
    BIDE__FAILED,  /* an attempt failed, and has yet to be judged */
    BIDE__OVER
};

/* The flags of a call. */
struct bide__traits {
    bool safe_twice : 1;  /* idempotent, or with a key */
    bool one_shot : 1;    /* its body cannot be sent again */
    bool nested : 1;      /* a layer above retries, so this one does not */
    bool no_more : 1;     /* no attempts are wanted but those running */

    bool granted : 1;     /* a retry or hedge, paid for but not begun */
    bool let_through : 1; /* by the throttle, for the next attempt */
    bool paced : 1;       /* it has a token of the rate for it */
    bool queued : 1;      /* it waits for a place for it */

    bool judged : 1;      /* there was a failure; it was ... */
    bool probe : 1;       /* ... of a probe */
    bool unprocessed : 1; /* ... certainly without effect */
    bool refused : 1;     /* ... one after which the server forbade a retry */
    bool hinted : 1;      /* ... one with a hint when to retry */
    bool clipped : 1;     /* ... of an attempt that was cut short */

    unsigned char rank : 2; /* a bide__rank: who is served first */
};

/* It lives in the caller's bide_call, hence may_alias. */
struct __attribute__((may_alias)) bide__call {
    bide_dep *dep;
    const bide_rng *rng;
    struct bide__lane *lane;
    int64_t begin_ns;
    int64_t deadline_ns;     /* or BIDE_FOREVER */
    int64_t at_ns;           /* it waits until then: for the retry, for a token,
                                in the queue, for the hedge */
    int64_t previous_ns;     /* the last computed wait, for decorrelated */
    uint64_t ticket_tick;    /* of a retry that was granted, not begun: its */
    uint32_t ticket_tokens;  /* ... bide__ticket, without the padding */
    uint32_t missed;         /* attempts that reached nobody: they do not count */
    union {                  /* hedges have no backoff */
        uint64_t hedge_tick; /* of its share of the ceiling of hedges */
        uint64_t skipped;    /* attempts that the computed wait does not grow
                                with: up to a hint (retry_after.then) */
    };
    uint8_t state;           /* a bide__call_state */
    uint8_t reason;          /* of the end, or of the retry */
    uint8_t stopped_by : 6;  /* why there are no further hedges; 0: may be */
    uint8_t at_gate : 1;     /* it has a ticket, and waits */
    uint8_t held : 1;        /* refused, and waits to ask again */
    uint8_t n_running;
    struct bide__traits is;

    /* The failure that is being judged, and the wait that was computed. */
    uint8_t cls : 3;
    uint8_t spared : 1;      /* it was not begun, and costs nothing ... */
    uint8_t sparing : 1;     /* not of the failure: ... which happens once */
    uint8_t conflict : 1;    /* bide_outcome.conflict */
    uint8_t pending : 1;     /* not of the failure: bide_op.body_pending, and ... */
    uint8_t keyed : 1;       /* ... an Idempotency-Key goes with each attempt.
                                Here because there is no room elsewhere */
    uint8_t fault : 5;
    uint8_t unreached : 1;   /* it found nobody ... */
    uint8_t elsewhere : 1;   /* ... but there is another server */
    uint8_t again : 1;       /* not of the failure: the next attempt stands for
                                the last one, which does not count */
    uint32_t attempts;       /* begun. Not beside `state`: the compiler would load
                                both at once, just after each was stored */
    uint32_t ours_us;        /* how much of its time so far was not the
                                dependency's: see blame.h */

    /* The first of these is in the second cache line, with all else that a call
     * needs which succeeds at once: none of what follows is read then. */
    struct bide__running running[BIDE__RUNNING_MAX];

    union {
        int64_t hint_ns;      /* its complement, if the hint is exact */
        uint32_t gate_ticket; /* at_gate: the hint has been heeded by then */
    };
    int64_t value_ns;
    int64_t wait_ns;
    int64_t wait_min_ns;
    int64_t wait_max_ns;
};

_Static_assert(BIDE_N_REASONS <= 64 && BIDE_N_FAULTS <= 32 &&
                   BIDE_N_CLASSES <= 8,
               "a reason, a fault and a class must fit their bits");

_Static_assert(sizeof(struct bide__call) <= sizeof(bide_call),
               "bide_call must hold the call");

/* The result of asking for an attempt. */
enum bide__admission {
    BIDE__ADMITTED,
    BIDE__HELD_UP, /* reason and at_ns are set: ask again */
    BIDE__REFUSED  /* reason is set */
};

struct bide__answer_to_start {
    enum bide__admission admission;
    bide_reason reason;
    int64_t at_ns;
};

static inline struct bide__answer_to_start
bide__answer(enum bide__admission admission, bide_reason reason, int64_t at_ns)
{
    return (struct bide__answer_to_start){ admission, reason, at_ns };
}

/* Asks breaker and limits to let the next attempt through, and begins it if
 * they do. `beside` means that another attempt is running: it then never
 * waits. */
struct bide__answer_to_start bide__attempt_start(struct bide__call *c,
                                                 bool beside, int64_t now);

/* Takes the outcome of an attempt: feeds breaker, budget, limits, latency and
 * counters, and releases what the attempt held. */
void bide__attempt_end(struct bide__call *c, const struct bide__running *r,
                       const bide_outcome *out, int64_t now);

/* Ends an attempt whose outcome no one waits for. */
void bide__attempt_drop(struct bide__call *c, const struct bide__running *r,
                        int64_t now);

/* Leaves the queue without a place. The driver may have been notified of a
 * place and have asked for this call: then it is notified again, for the next
 * in the queue. */
void bide__queue_quit(struct bide__call *c);

/* Gives back its turn under limits.rate, which may be used from `at` on. */
void bide__turn_give_back(struct bide__call *c, int64_t at);

/* How long an attempt that begins now may take. */
static inline int64_t bide__time_for_attempt(const struct bide__call *c,
                                             int64_t now)
{
    int64_t timeout = c->dep->policy.conf.attempt_timeout_ns;
    if (c->deadline_ns != BIDE_FOREVER && c->deadline_ns - now < timeout)
        timeout = c->deadline_ns > now ? c->deadline_ns - now : 0;
    return timeout;
}

/* Whether an attempt that starts then would end in time. It takes at least a
 * nanosecond: one with no time at all would look like one without a limit to many
 * clients. */
static inline bool bide__fits_deadline(const struct bide__call *c,
                                       int64_t start_ns)
{
    int64_t least = c->dep->policy.conf.attempt_min_ns;
    return bide__add_ns(start_ns, least > 0 ? least : 1) <= c->deadline_ns;
}

/* What the server asked for; and whether it is the wait itself, even if it is
 * 0. */
static inline int64_t bide__hint_ns(const struct bide__call *c)
{
    return c->hint_ns < 0 ? ~c->hint_ns : c->hint_ns;
}

static inline bool bide__hint_exact(const struct bide__call *c)
{
    return c->is.hinted && c->hint_ns < 0;
}

/* It did not reach the server, or the server did not begin with it: no work was
 * asked for. */
static inline bool bide__is_free(const struct bide__call *c)
{
    return c->unreached || c->spared;
}

/* How many attempts count; and whether this is the first that does. */
static inline uint32_t bide__counted(const struct bide__call *c)
{
    return c->attempts - c->missed;
}

static inline bool bide__is_first(const struct bide__call *c,
                                  const struct bide__running *r)
{
    return r->attempt - c->missed == 1;
}

#endif
