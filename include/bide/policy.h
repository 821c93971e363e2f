/* bide/policy.h: the settings and rules of a dependency.
 *
 *     bide_policy_conf conf = BIDE_POLICY_CONF_INIT;  // every default is below
 *     conf.attempts = 3;
 *     conf.deadline_ns = 5 * BIDE_SECOND;
 *     conf.backoff.jitter = BIDE_JITTER_EQUAL;
 *     int rc = bide_dep_new(&dep, "payments", &conf);
 *     if (rc < 0)
 *         die(bide_strerror(rc));      // "backoff.cap: expected ..."
 *
 * A policy is copied and validated when a dependency is created, and never
 * changes afterwards. Nothing is corrected silently: an invalid policy is
 * refused, and the error names the field. Zero means zero, never "the default".
 *
 * In the comments: unit; range; default. */
#ifndef BIDE_POLICY_H
#define BIDE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backoff.h"
#include "outcome.h"

BIDE_BEGIN_DECLS

#define BIDE_MILLISECOND INT64_C(1000000)
#define BIDE_SECOND INT64_C(1000000000)
#define BIDE_MINUTE (60 * BIDE_SECOND)
#define BIDE_HOUR (60 * BIDE_MINUTE)

/* What a hint does to the wait: replaces it, or is its minimum. */
#define BIDE_HINT_MODES(X)                                                     \
    X(BIDE_HINT_REPLACE, "replace")                                            \
    X(BIDE_HINT_FLOOR, "floor")

/* After a wait that the server asked for, the computed wait is as long as if it
 * had been computed all along, or starts again from its base (gRPC). */
#define BIDE_HINT_THENS(X)                                                     \
    X(BIDE_THEN_CONTINUE, "continue")                                          \
    X(BIDE_THEN_RESTART, "restart")

/* After a 429 that does not say when: back off as computed, or stop. */
#define BIDE_UNHINTED_ACTIONS(X)                                               \
    X(BIDE_UNHINTED_BACKOFF, "backoff")                                        \
    X(BIDE_UNHINTED_STOP, "stop")

/* When a layer above already retries: leave it to that layer, or retry too. */
#define BIDE_NESTED_ACTIONS(X)                                                 \
    X(BIDE_NESTED_PASS, "pass")                                                \
    X(BIDE_NESTED_RETRY, "retry")

/* Whether calls without an idempotency key get one, the same on each attempt. */
#define BIDE_KEY_ACTIONS(X)                                                    \
    X(BIDE_KEY_NONE, "none")                                                   \
    X(BIDE_KEY_GENERATE, "generate")

/* When bide itself does not let a call go (breaker, budget, limits, nobody
 * there): end it with the reason, or let it wait until it may go. */
#define BIDE_REFUSED_ACTIONS(X)                                                \
    X(BIDE_REFUSED_FAIL, "fail")                                               \
    X(BIDE_REFUSED_WAIT, "wait")

#define BIDE_BUDGETS(X)                                                        \
    X(BIDE_BUDGET_OFF, "off")             /* no limit but `attempts` */        \
    X(BIDE_BUDGET_WINDOW, "window")       /* a share of recent deposits */     \
    X(BIDE_BUDGET_QUOTA, "quota")         /* AWS: a bucket, refunded */        \
    X(BIDE_BUDGET_THROTTLE, "throttle")   /* gRPC: tokens above half */        \
    X(BIDE_BUDGET_IN_FLIGHT, "in_flight") /* Envoy: a share of calls now */

/* A cap on attempts at once that follows what the dependency can take. */
#define BIDE_ADAPTIVES(X)                                                      \
    X(BIDE_ADAPTIVE_OFF, "off")           /* in_flight alone */                \
    X(BIDE_ADAPTIVE_AIMD, "aimd")         /* one more; a tenth less */         \
    X(BIDE_ADAPTIVE_GRADIENT, "gradient") /* by the slope of latency */

#define BIDE_DEPOSITS(X)                                                       \
    X(BIDE_DEPOSIT_SUCCESS, "success")                                         \
    X(BIDE_DEPOSIT_CALL, "call")

#define BIDE_BREAKERS(X)                                                       \
    X(BIDE_BREAKER_OFF, "off")                                                 \
    X(BIDE_BREAKER_TIME, "time")   /* rates over the last window_ns */         \
    X(BIDE_BREAKER_COUNT, "count") /* rates over the last window_calls */

#define BIDE_BREAKER_MODES(X)                                                  \
    X(BIDE_BREAKER_NORMAL, "normal")                                           \
    X(BIDE_BREAKER_FORCED_OPEN, "forced_open")                                 \
    X(BIDE_BREAKER_FORCED_CLOSED, "forced_closed")                             \
    X(BIDE_BREAKER_DRY_RUN, "dry_run") /* counts and reports, never refuses */

#define BIDE__X(name, key) name,
typedef enum bide_hint_mode { BIDE_HINT_MODES(BIDE__X) } bide_hint_mode;
typedef enum bide_hint_then { BIDE_HINT_THENS(BIDE__X) } bide_hint_then;
typedef enum bide_unhinted { BIDE_UNHINTED_ACTIONS(BIDE__X) } bide_unhinted;
typedef enum bide_nested { BIDE_NESTED_ACTIONS(BIDE__X) } bide_nested;
typedef enum bide_key { BIDE_KEY_ACTIONS(BIDE__X) } bide_key;
typedef enum bide_when_refused { BIDE_REFUSED_ACTIONS(BIDE__X) } bide_when_refused;
typedef enum bide_budget_kind { BIDE_BUDGETS(BIDE__X) } bide_budget_kind;
typedef enum bide_deposit { BIDE_DEPOSITS(BIDE__X) } bide_deposit;
typedef enum bide_adaptive { BIDE_ADAPTIVES(BIDE__X) } bide_adaptive;
typedef enum bide_breaker_kind { BIDE_BREAKERS(BIDE__X) } bide_breaker_kind;
typedef enum bide_breaker_mode { BIDE_BREAKER_MODES(BIDE__X) } bide_breaker_mode;
#undef BIDE__X

/* The server's hint on when to retry. */
typedef struct bide_retry_after_conf {
    bide_hint_mode mode;    /* replace */
    int64_t max_ns;         /* a longer hint ends the call; >= 0; 5 min */
    double jitter;          /* added on top, uniform in [0, jitter * hint];
                               0 .. 1; 0.1 */
    bide_unhinted throttled_without_hint; /* backoff */
    bide_hint_then then;    /* how long the next computed wait is; continue */
} bide_retry_after_conf;

/* How many retries (and hedges) all calls together may make. */
typedef struct bide_budget_conf {
    bide_budget_kind kind;  /* window */

    /* window, in_flight */
    double ratio;           /* retries per deposit, or per call in flight;
                               0 .. 1; 0.2 */
    /* window */
    int64_t window_ns;      /* 100 ms .. 1 h; 10 s */
    double floor_per_s;     /* retries a second that are always granted;
                               0 .. 1e6; 1 */
    bide_deposit deposit;   /* success */

    /* quota */
    uint32_t capacity;      /* tokens; 1 .. 1e9; 500 */
    uint32_t cost;          /* of a retry; 0 .. 1e6; 5 */
    uint32_t cost_timeout;  /* of a retry after a timeout; 0 .. 1e6; 10 */
    uint32_t cost_throttled; /* of a retry after throttling; 0 .. 1e6; 5 */
    uint32_t refund;        /* for a success at the first attempt; a retry that
                               succeeds gives back its cost; 0 .. 1e6; 1 */
    /* throttle */
    double max_tokens;      /* 1 .. 1000; 10 */
    double token_ratio;     /* gained per success; 0.001 .. 1000; 0.1 */

    /* in_flight */
    uint32_t min_in_flight; /* always granted at once; 0 .. 1e6; 3 */

    /* every kind */
    double per_call;        /* the share of what the budget grants that one call
                               may spend, but always one retry; over 0 .. 1; 1 */
} bide_budget_conf;

/* When to stop calling altogether for a while. */
typedef struct bide_breaker_conf {
    bide_breaker_kind kind; /* time */
    bide_breaker_mode mode; /* normal */
    int64_t window_ns;      /* 100 ms .. 1 h; 10 s */
    uint32_t window_calls;  /* of kind count; 1 .. 1024; 100 */
    uint32_t min_calls;     /* fewer do not open it; 1 .. 1e9; 20 */
    double failure_rate;    /* opens at this share of failures; over 0 .. 1;
                               0.9 */
    double slow_rate;       /* opens at this share of slow attempts; over 0 .. 1;
                               0.5 */
    int64_t slow_ns;        /* an attempt this long is slow, and so is one that
                               times out; over 0, FOREVER: only those; FOREVER */
    uint32_t consecutive;   /* opens after so many failures in a row; 0: never;
                               0 .. 1e6; 0 */
    int64_t open_ns;        /* stays open for; 1 ms .. 1 h; 1 s */
    double open_jitter;     /* ... and up to this share longer; 0 .. 1; 0.2 */
    double open_factor;     /* longer at each reopening in a row; 1 .. 100; 2 */
    int64_t open_max_ns;    /* ... up to, or open_ns if that is longer;
                               1 ms .. 24 h; 3 s */
    uint32_t probes;        /* attempts that half-open lets through; 1 .. 16; 3 */
    double probe_failure_rate; /* of all probes reopens it; 0: one failure does;
                               0 .. 1; 0 */
} bide_breaker_conf;

/* A second attempt beside a slow one. Needs attempts = 1.
 *
 * Hedges by quantile begin when min_samples attempts have been measured, and not
 * before those that still run can change the answer: at the start the fast
 * attempts have all ended and the slow ones have not, so the quantile of those
 * that have ended is too low. For the first latency.window of measuring, each
 * attempt that runs counts as slower than all that have ended; while the
 * quantile then falls among those that run, nothing is hedged. Later the slow
 * attempts of the past stand for those of the present, and only measured ones
 * count. */
typedef struct bide_hedge_conf {
    uint32_t max;           /* extra attempts of a call; 0 .. 4; 0: no hedging */
    int64_t after_ns;       /* sent after this time; >= 0, or FOREVER: after
                               `quantile`; FOREVER */
    double quantile;        /* of recent latency; 0.5 .. 0.999; 0.95 */
    uint32_t min_samples;   /* of latency, before the quantile is trusted;
                               1 .. 1e6; 100 */
    double extra_load;      /* hedges per call, at most, and not over max; at
                               max there is no limit; 0 .. 4; 0.05 */
    int64_t window_ns;      /* over which that counts: long enough that one call
                               a second allows a hedge; 100 ms .. 1 h; 1 min */
} bide_hedge_conf;

/* Limits on attempts, including first ones. */
typedef struct bide_limit_conf {
    uint32_t in_flight;     /* attempts at once; 1 .. 1e6, UNLIMITED; UNLIMITED */
    uint32_t queue;         /* calls that may wait for a place; 0 .. 1e6; 0 */
    int64_t queue_timeout_ns; /* ... and for how long; >= 0; 1 s */
    bool adaptive_rate;     /* slow down when throttled, then speed up; false */
    bool adaptive_throttle; /* refuse locally what the server would; false */
    double throttle_k;      /* requests let through per accepted; 1 .. 100; 2 */
    int64_t throttle_window_ns; /* 100 ms .. 1 h; 2 min */
    double shed;            /* share of the places in use above which retries of
                               a layer above are refused, and half way from there
                               to the cap calls of low priority; over 0 .. 1;
                               0.8 */
    double reserve;         /* share of the places reserved for calls of high
                               priority; 0 .. 0.9; 0 */
    double rate;            /* attempts a second; 0: no limit; 0 .. 1e6; 0 */
    uint32_t burst;         /* ... and how many of them at once; 1 .. 1e6; 1 */
    int64_t rate_wait_ns;   /* ... and how long one may wait for its turn; >= 0,
                               FOREVER: up to the deadline; FOREVER */
    bide_adaptive adaptive; /* a cap below in_flight that adapts; off */
    uint32_t adaptive_min;  /* never fewer at once; 1 .. adaptive_max; 1 */
    uint32_t adaptive_max;  /* never more; 1 .. 1e6; 200 */
    uint32_t adaptive_initial; /* at the start; adaptive_min .. adaptive_max;
                               20 */
} bide_limit_conf;

#define BIDE_UNLIMITED UINT32_MAX

/* How latency is measured. */
typedef struct bide_latency_conf {
    bool measure;           /* needed to hedge by quantile; true */
    int64_t window_ns;      /* quantiles are of the last; 100 ms .. 1 h; 30 s */
} bide_latency_conf;

/* Whose word on retries and deadlines counts as a bide's would: fields that
 * anyone who can send a request can set, so each is off unless set. */
typedef struct bide_trust_conf {
    bool envoy;             /* x-envoy-attempt-count, -expected-rq-timeout-ms and
                               -overloaded; false */
    bool grpc;              /* grpc-previous-rpc-attempts, grpc-timeout; false */
    bool aws;               /* amz-sdk-request; false */
} bide_trust_conf;

/* The failures that may have a backoff of their own. X(name, key, when) */
#define BIDE_BACKOFFS(X)                                                       \
    X(BIDE_AFTER_FAILURE, "backoff", "any other failure")                      \
    X(BIDE_AFTER_THROTTLED, "backoff_throttled", "class throttled")            \
    X(BIDE_AFTER_CONFLICT, "backoff_conflict",                                 \
      "status 409 or gRPC ABORTED, where the policy retries it")               \
    X(BIDE_AFTER_TIMEOUT, "backoff_timeout", "the attempt timed out")

typedef enum bide_after {
#define BIDE__X(name, key, when) name,
    BIDE_BACKOFFS(BIDE__X)
#undef BIDE__X
    BIDE_N_AFTER
} bide_after;

/* What is different from `backoff` after such a failure. Jitter, floor and the
 * rest are the same; a base, factor or cap of its own sets aside a list of
 * `backoff`. */
typedef struct bide_backoff_part {
    int64_t base_ns;        /* 0 is at once, each time; >= 0, SAME; SAME */
    double factor;          /* 1 .. 1000, SAME; SAME */
    int64_t cap_ns;         /* >= base, SAME; SAME */
    bide_delays delays;     /* none */
} bide_backoff_part;

#define BIDE_BACKOFF_PART_INIT                                                 \
    {                                                                          \
        BIDE_SAME, -1.0, BIDE_SAME, { 0, { 0 } }                               \
    }

/* What is known when a wait is computed. Threads: owned. */
typedef struct bide_wait_facts {
    uint32_t retry;         /* which one will wait; 0 is the first */
    bide_class cls;         /* of the failure before it */
    bide_fault fault;       /* of that failure */
    bide_after after;       /* whose backoff applies */
    int64_t value_ns;       /* the wait that the policy computes, before jitter */
    int64_t previous_ns;    /* the last wait that was drawn; 0 before any */
    int64_t elapsed_ns;     /* since the call began */
    int64_t left_ns;        /* until its deadline, or FOREVER */
    int64_t hint_ns;        /* the server's hint; -1: none */
} bide_wait_facts;

/* Returns a wait of the program's own, which takes the place of value_ns: over
 * the cap it is the cap, and a negative one leaves value_ns as it is. Jitter,
 * floor and hints apply to it as to any other. Called from bide_call_next(), for
 * any call and from any thread: it must depend on nothing but its arguments, or
 * the simulator and `bide explain` would not show what will happen.
 *
 *     static int64_t wait_for_leader(void *ctx, const bide_wait_facts *f)
 *     {
 *         return f->retry < 3 ? 50 * BIDE_MILLISECOND : -1;
 *     }
 */
typedef int64_t (*bide_wait_fn)(void *ctx, const bide_wait_facts *facts);

/* A condition, and the class of responses that match it. Each member that is
 * not zero must match; the first rule that matches decides, before the
 * defaults. */
typedef struct bide_rule {
    uint16_t status_min;    /* HTTP status from ... */
    uint16_t status_max;    /* ... to; both 0: any, and none */
    uint32_t faults;        /* a set of 1u << bide_fault; 0: any, and none */
    uint32_t grpc;          /* a set of 1u << bide_grpc; 0: any, and none */
    const char *method;     /* exactly */
    const char *header;     /* a field of this name, in any case, ... */
    const char *header_value; /* ... with this value, in any case; a final
                                 `*` matches any rest */
    const char *problem_type; /* the type URI of problem details, exactly */
    bide_class cls;
    bool not_processed;     /* such a response proves that nothing was done */
    uint64_t _room[4];
} bide_rule;

/* The maximum number of rules in a policy, and length of a string in one. */
#define BIDE_MAX_RULES 256
#define BIDE_MAX_RULE_TEXT 512

/* While nothing accepts a connection, as during a restart. An attempt that never
 * reached the dependency asked it for no work: it costs neither an attempt nor
 * budget, and the calls wait together while one at a time knocks. Off with
 * attempts = 1, unless the policy hedges. */
typedef struct bide_unreachable_conf {
    int64_t wait_ns;        /* calls wait for so long, from when it went away,
                               or with when_refused: wait from when they began;
                               >= 0, 0: such a failure is like any other;
                               10 s */
    int64_t knock_ns;       /* the longest time between two knocks;
                               32 ms .. 1 h; 1 s */
} bide_unreachable_conf;

/* All of it. Fields are only ever appended. Threads: owned. */
typedef struct bide_policy_conf {
    size_t size;            /* sizeof(bide_policy_conf), as INIT sets it */
    uint32_t attempts;      /* of a call, including the first; 1 .. 2^31; 4 */
    int64_t attempt_timeout_ns; /* over 0; 10 s */
    int64_t attempt_min_ns; /* the shortest attempt worth making; >= 0; 1 ms */
    int64_t deadline_ns;    /* of a call, from its beginning; over 0, FOREVER:
                               none; FOREVER */
    bide_nested nested;     /* pass */
    bide_key idempotency_key; /* none */
    bide_backoff backoff;   /* its defaults are in bide/backoff.h */
    bide_retry_after_conf retry_after;
    bide_budget_conf budget;
    bide_breaker_conf breaker;
    bide_hedge_conf hedge;
    bide_limit_conf limits;
    bide_latency_conf latency;
    uint32_t lanes;         /* copies of the busiest counters, so that threads do
                               not wait for each other; a power of 2; 1 .. 64; 4 */
    const bide_rule *rules; /* evaluated in this order; NULL */
    size_t n_rules;         /* 0 */
    bide_when_refused when_refused; /* fail */
    bide_unreachable_conf unreachable;
    bide_trust_conf trust;
    bide_backoff_part backoff_throttled; /* in place of `backoff` ... */
    bide_backoff_part backoff_conflict;  /* ... after such failures: see */
    bide_backoff_part backoff_timeout;   /* ... bide_after; all SAME */
    bide_wait_fn wait;      /* computes the waits; NULL: none does. Not with
                               decorrelated jitter */
    void *wait_ctx;         /* passed to it; must outlive the dependency */
} bide_policy_conf;

#define BIDE_POLICY_CONF_INIT                                                  \
    {                                                                          \
        sizeof(bide_policy_conf), 4, 10 * BIDE_SECOND, BIDE_MILLISECOND,       \
            BIDE_FOREVER, BIDE_NESTED_PASS, BIDE_KEY_NONE, BIDE_BACKOFF_INIT,  \
            { BIDE_HINT_REPLACE, 5 * BIDE_MINUTE, 0.1,                         \
              BIDE_UNHINTED_BACKOFF, BIDE_THEN_CONTINUE },                     \
            { BIDE_BUDGET_WINDOW, 0.2, 10 * BIDE_SECOND, 1.0,                  \
              BIDE_DEPOSIT_SUCCESS, 500, 5, 10, 5, 1, 10.0, 0.1, 3, 1.0 },     \
            { BIDE_BREAKER_TIME, BIDE_BREAKER_NORMAL, 10 * BIDE_SECOND, 100,   \
              20, 0.9, 0.5, BIDE_FOREVER, 0, BIDE_SECOND, 0.2, 2.0,            \
              3 * BIDE_SECOND, 3, 0.0 },                                       \
            { 0, BIDE_FOREVER, 0.95, 100, 0.05, BIDE_MINUTE },                 \
            { BIDE_UNLIMITED, 0, BIDE_SECOND, false, false, 2.0,               \
              2 * BIDE_MINUTE, 0.8, 0.0, 0.0, 1, BIDE_FOREVER,                 \
              BIDE_ADAPTIVE_OFF, 1, 200, 20 },                                 \
            { true, 30 * BIDE_SECOND }, 4, NULL, 0, BIDE_REFUSED_FAIL,         \
            { 10 * BIDE_SECOND, BIDE_SECOND }, { false, false, false },        \
            BIDE_BACKOFF_PART_INIT, BIDE_BACKOFF_PART_INIT,                    \
            BIDE_BACKOFF_PART_INIT, NULL, NULL                                 \
    }

/* Validates a policy. Returns 0, or BIDE_EFIELD - n for an error in row n of
 * the options, BIDE_ERULE, BIDE_EINVAL if there is no policy, or BIDE_ESIZE if
 * its `size` is not one that this version knows. */
BIDE_API int bide_policy_check(const bide_policy_conf *conf);

/* Returns the backoff after such a failure, with all that is the same as in
 * `backoff` filled in. */
BIDE_API bide_backoff bide_policy_backoff(const bide_policy_conf *conf,
                                          bide_after after);

/* Fills in a set of settings, by name: `service` is the defaults, `patient` is for
 * what nobody waits for, `queue` for messages that are kept until they are done;
 * those of well-known systems are `sre`, `aws-standard`,
 * `aws-2026`, `grpc`, `envoy`, `finagle`. Overwrites all of *conf. BIDE_ENAME
 * if there is none of that name. */
BIDE_API int bide_policy_preset(bide_policy_conf *conf, const char *name);

/* Return the name of preset n, or NULL past the last; and a sentence about
 * it. */
BIDE_API const char *bide_policy_preset_name(size_t n);
BIDE_API const char *bide_policy_preset_text(size_t n);

/* The types of option values. */
typedef enum bide_option_type {
    BIDE_OPTION_DURATION, /* int64_t, ns */
    BIDE_OPTION_COUNT,    /* uint32_t */
    BIDE_OPTION_RATIO,    /* double, 0 .. 1 for most; also in percent */
    BIDE_OPTION_NUMBER,   /* double */
    BIDE_OPTION_RATE,     /* double, per second */
    BIDE_OPTION_FLAG,     /* bool */
    BIDE_OPTION_CHOICE,   /* an enum, one of `choices` */
    BIDE_OPTION_DELAYS    /* bide_delays: a list of durations */
} bide_option_type;

/* One field of a policy, as seen by policy files and documentation. Its default
 * is what BIDE_POLICY_CONF_INIT holds at `offset`. Threads: immutable. */
typedef struct bide_option {
    const char *key;        /* "backoff.base" */
    bide_option_type type;
    size_t offset;          /* in bide_policy_conf */
    double min;             /* in the unit of the field, as are ... */
    double max;             /* ... these; durations: of ns */
    bool above_min;         /* min itself is not allowed */
    const char *special;    /* a word for one value outside: "none"; or NULL */
    int64_t special_value;
    const char *const *choices; /* names in the order of the enum, then NULL */
    const char *expects;    /* "a duration, not under backoff.base" */
    const char *help;       /* one sentence */
    const void *_room[4];
} bide_option;

/* Returns the table of all options; *ret_n is set to their number. */
BIDE_API const bide_option *bide_policy_options(size_t *ret_n);

BIDE_END_DECLS
#endif
