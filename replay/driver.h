/* The driver: asks the engine on virtual time, and tells every answer.
 *
 * It is an ordinary driver of libbide: all that it decides itself is the order of
 * what happens at the same moment. What falls due at the very time of an event
 * happens before the event; things due at the same time happen in the order in
 * which they became known. */
#ifndef BIDE_REPLAY_DRIVER_H
#define BIDE_REPLAY_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/bide.h"

#include "replay/start.h"
#include "replay/timers.h"

/* Threads: immutable once read. */
struct replay_outcome {
    int status; /* HTTP; 0: none */
    bide_fault fault;
    bool not_sent;
    bool is_grpc;
    int grpc;
    const bide_header *headers;
    size_t n_headers;
    const char *body;
    size_t body_len;
    int64_t latency_ns; /* from its start; < 0: not given */
};

enum { REPLAY_RUNNING_MAX = 5 };

struct replay_attempt {
    uint32_t attempt;
    int64_t start_ns, timeout_ns;
    uint64_t due_seq; /* of the one timer that counts */
    bool timed_out;   /* the outcome when that timer fires */
    struct replay_outcome outcome;
};

struct replay_call {
    bide_call call;
    bide_rng_seeded drawn; /* its own waits: as `explain` and `schedule` draw
                              them, for the first call with this seed */
    bide_rng rng;
    uint64_t serial; /* never reused */
    uint64_t user;   /* for the user of the driver */
    const char *method;
    int64_t begin_ns;
    uint32_t first_attempt; /* 1, or more if earlier ones were made */
    bide_class last_class;  /* of the last outcome, if any */
    bool had_outcome;
    bide_decision last; /* that was reported */
    int64_t ask_at_ns;  /* the timer to ask again; FOREVER: none */
    unsigned n_running;
    struct replay_attempt running[REPLAY_RUNNING_MAX];
    bool queued;
    bool unhedged; /* that a hedge was refused has been told */
    struct replay_call *before, *after; /* in the queue for a place */
    struct replay_call *next_free;
    struct replay_call *next_made;
};

/* Why the engine was asked. X(name, key) */
#define REPLAY_CAUSES(X)                                                       \
    X(REPLAY_BEGIN, "begin")                                                   \
    X(REPLAY_RESULT, "result")                                                 \
    X(REPLAY_TIMEOUT, "timeout") /* no result came in time */                  \
    X(REPLAY_DUE, "due")         /* a wait is over */                          \
    X(REPLAY_STARTED, "started") /* asked again after `try` */                 \
    X(REPLAY_PLACE, "place")     /* a place in flight is free */               \
    X(REPLAY_CANCEL, "cancel")                                                 \
    X(REPLAY_TICK, "tick")                                                     \
    X(REPLAY_END, "end")         /* the script is over, the call is not */     \
    X(REPLAY_BREAKER, "breaker") /* it changed state */       \
    X(REPLAY_FORCED, "force_breaker")                                          \
    X(REPLAY_START, "start") /* it begins in this state */                     \
    X(REPLAY_UNUSED, "unused") /* a result that no attempt waits for */

enum replay_cause {
#define X(name, key) name,
    REPLAY_CAUSES(X)
#undef X
};

/* Something to report: a decision, or a note without one. */
struct replay_row {
    enum replay_cause cause;
    int64_t now_ns;
    const struct replay_call *call; /* NULL: of the dependency */
    bool decided;                   /* `decision` counts */
    bide_decision decision;
    bide_reason unhedged; /* why the hedge that was due is not sent; SUCCESS:
                             there is no such hedge */
    uint32_t of;                      /* RESULT, TIMEOUT, UNUSED: the attempt */
    const bide_outcome *outcome;      /* RESULT, TIMEOUT; else NULL */
    const struct replay_outcome *raw; /* the same before it was classified */
    bide_breaker_state from, to;      /* BREAKER; START: to */
    int64_t until_ns;                 /* if that is open; else 0 */
    bide_breaker_mode mode;           /* FORCED */
    uint32_t stopped[REPLAY_RUNNING_MAX]; /* DONE: attempts that still ran */
    unsigned n_stopped;
};

/* What the driver asks and reports. `outcome` provides the outcome of the
 * attempt that starts now, or false: it is not known yet. */
struct replay_user {
    bool (*outcome)(void *ctx, const struct replay_call *call, uint32_t attempt,
                    struct replay_outcome *ret);
    void (*tell)(void *ctx, const struct replay_row *row);
};

/* Threads: owned. */
struct replay {
    bide_dep *dep;
    int64_t now_ns;
    int64_t wall_s;      /* seconds since 1970 at time 0; 0: unknown */
    uint64_t in_flight;  /* attempts that run */
    uint64_t open;       /* calls that are not over */
    uint64_t unfinished; /* calls that were not, at the end */
    uint64_t unused;     /* results for which no attempt was waiting */
    uint64_t decisions;
    uint64_t decisions_max;
    int error; /* BIDE_ENOMEM, BIDE_ESTATE: too many decisions, BIDE_EINVAL: */
    const char *wrong_start; /* ... why a state makes no sense */
    uint64_t seed;

    struct replay_timers timers;
    struct replay_call *made, *free;
    struct replay_call *queue_first, *queue_last;
    bool place_free;
    uint64_t serial;
    const struct replay_user *user;
    void *ctx;
};

/* Threads: immutable. */
struct replay_settings {
    const bide_policy_conf *conf;
    uint64_t seed;
    uint64_t decisions_max; /* stops what would never end */
    const struct replay_start *start; /* or NULL: as a new dependency does */
};

enum { REPLAY_DECISIONS_MAX = 10000000 };

/* Starts at time 0. 0, or the result of bide_dep_new(). */
int replay_init(struct replay *r, const struct replay_settings *settings,
                const struct replay_user *user, void *ctx);
void replay_done(struct replay *r);

/* All of these return r->error, and do nothing once there is one. */

/* Processes everything that is due up to and including `at_ns`. */
int replay_advance(struct replay *r, int64_t at_ns);

/* op->deadline_ns is a duration here, 0 for none. */
int replay_begin(struct replay *r, const bide_op *op, const char *method,
                 uint64_t user, struct replay_call **ret_call);

/* The outcome of an attempt: now, or, if it has a latency, that long after the
 * attempt's start. attempt 0: of the oldest one running. */
int replay_result(struct replay *r, struct replay_call *call, uint32_t attempt,
                  const struct replay_outcome *outcome);
int replay_cancel(struct replay *r, struct replay_call *call);
int replay_tick(struct replay *r);
int replay_force(struct replay *r, bide_breaker_mode mode);

/* Puts the dependency into a state; before the first call. */
int replay_start(struct replay *r, const struct replay_start *start);

/* Runs until nothing more is due, then ends what is still open. */
int replay_finish(struct replay *r);

#endif
