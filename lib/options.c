/* The table of options: every field of a policy, once.
 *
 * Key, type, bounds, what is expected, and a sentence of help. Checking
 * (policy.c), policy files, the reference page and the editors' schema all read
 * this table; the defaults are what BIDE_POLICY_CONF_INIT holds. Each bound is
 * written once (lib/takes.h). */
#include <stddef.h>

#include "lib/policy.h"
#include "lib/takes.h"

/* The names of each choice, in the order of its enum. */
#define X(name, key) key,
#define XJ(name, key, what) key,
static const char *const nested_names[] = { BIDE_NESTED_ACTIONS(X) NULL };
static const char *const key_names[] = { BIDE_KEY_ACTIONS(X) NULL };
static const char *const refused_names[] = { BIDE_REFUSED_ACTIONS(X) NULL };
static const char *const jitter_names[] = { BIDE_JITTERS(XJ) NULL };
static const char *const shape_names[] = { BIDE_SHAPES(XJ) NULL };
static const char *const adaptive_names[] = { BIDE_ADAPTIVES(X) NULL };
static const char *const hint_names[] = { BIDE_HINT_MODES(X) NULL };
static const char *const then_names[] = { BIDE_HINT_THENS(X) NULL };
static const char *const unhinted_names[] = { BIDE_UNHINTED_ACTIONS(X) NULL };
static const char *const budget_names[] = { BIDE_BUDGETS(X) NULL };
static const char *const deposit_names[] = { BIDE_DEPOSITS(X) NULL };
static const char *const breaker_names[] = { BIDE_BREAKERS(X) NULL };
static const char *const mode_names[] = { BIDE_BREAKER_MODES(X) NULL };
#undef X
#undef XJ

/* What a failure of some kind may have of its own. */
#define BACKOFF_PART(X, name, failure)                                         \
    X(#name ".base", name.base_ns,                                             \
      TAKES_OR(DURATION, 0, MAX_NS, "same", BIDE_SAME,                         \
               "a duration, not over the cap"),                                \
      "The base of waits after " failure "; the same as backoff.base unless "  \
      "set.")                                                                  \
    X(#name ".factor", name.factor,                                            \
      TAKES_OR(NUMBER, 1, 1000, "same", BIDE_SAME, "a number from 1 to 1000"), \
      "Their growth; the same as backoff.factor unless set.")                  \
    X(#name ".cap", name.cap_ns,                                               \
      TAKES_OR(DURATION, 0, MAX_NS, "same", BIDE_SAME,                         \
               "a duration, not under the base or backoff.floor"),             \
      "Their cap; the same as backoff.cap unless set.")                        \
    X(#name ".delays", name.delays,                                            \
      TAKES_DELAYS "; none with decorrelated jitter",                          \
      "The waits after " failure ", as backoff.delays.")

/* X(key, field, what it takes, help) */
#define OPTIONS(X)                                                             \
    X("attempts", attempts, TAKES_COUNT(1, 2147483648),                        \
      "Attempts of a call, the first included.")                               \
    X("attempt_timeout", attempt_timeout_ns,                                   \
      TAKES_DURATION_OVER_0_OR("none", BIDE_FOREVER),                          \
      "How long one attempt may take; clipped to what is left of the "         \
      "deadline.")                                                             \
    X("attempt_min", attempt_min_ns, TAKES_DURATION,                           \
      "The shortest attempt worth making: with less left of the deadline, "    \
      "none is made.")                                                         \
    X("deadline", deadline_ns, TAKES_DURATION_OVER_0_OR("none", BIDE_FOREVER), \
      "How long a call may take in all, waits included.")                      \
    X("nested", nested, TAKES_CHOICE(nested_names, "pass or retry"),           \
      "When a layer above already retries: pass the outcome up, or retry "     \
      "here too.")                                                             \
    X("when_refused", when_refused,                                            \
      TAKES_CHOICE(refused_names, "fail or wait"),                             \
      "When breaker, budget or limits do not let a call go: end it, or let "   \
      "it wait until they do.")                                                \
    X("unreachable.wait", unreachable.wait_ns, TAKES_DURATION_OR("none", 0),   \
      "How long calls wait for a dependency that accepts no connections, "     \
      "from when it went away, or with when_refused wait from when they "      \
      "began.")                                                                \
    X("unreachable.knock", unreachable.knock_ns,                               \
      TAKES_DURATION_FROM(32, ms, 1, h),                                       \
      "The longest time between two attempts to find out whether it is "       \
      "back.")                                                                 \
    X("idempotency.key", idempotency_key,                                      \
      TAKES_CHOICE(key_names, "none or generate"),                             \
      "Give calls that carry no Idempotency-Key one, the same on each "        \
      "attempt.")                                                              \
    X("backoff.shape", backoff.shape,                                          \
      TAKES_CHOICE(                                                            \
          shape_names,                                                         \
          "exponential or linear; not linear with decorrelated jitter"),       \
      "How waits grow: by the factor each time, or by the base.")              \
    X("backoff.base", backoff.base_ns,                                         \
      TAKES_DURATION ", not over backoff.cap",                                 \
      "The wait before the first retry, before jitter.")                       \
    X("backoff.factor", backoff.factor, TAKES_NUMBER(1, 1000),                 \
      "How much longer each wait is than the one before.")                     \
    X("backoff.cap", backoff.cap_ns,                                           \
      TAKES_DURATION ", not under backoff.base or backoff.floor",              \
      "No computed wait is longer.")                                           \
    X("backoff.jitter", backoff.jitter,                                        \
      TAKES_CHOICE(jitter_names,                                               \
                   "none, full, equal, decorrelated or proportional"),         \
      "How waits are spread, so that clients that failed together do not "     \
      "return together.")                                                      \
    X("backoff.spread", backoff.spread, TAKES_RATIO(0, 1),                     \
      "Of proportional jitter: the wait is drawn from 1 - spread to 1 + "      \
      "spread times its value.")                                               \
    X("backoff.floor", backoff.floor_ns,                                       \
      TAKES_DURATION ", not over backoff.cap",                                 \
      "No computed wait is shorter; jitter stays above it.")                   \
    X("backoff.immediate_first", backoff.immediate_first, TAKES_FLAG,          \
      "The first retry after a failure to connect goes at once, unless "       \
      "calls wait for it (unreachable.wait).")                                 \
    X("backoff.delays", backoff.delays,                                        \
      TAKES_DELAYS "; none with decorrelated jitter",                          \
      "The waits one by one, the last of them for all further retries, in "    \
      "place of base, factor, cap and shape; jitter and floor apply.")         \
    BACKOFF_PART(X, backoff_throttled, "a throttled answer")                   \
    BACKOFF_PART(X, backoff_conflict,                                          \
                 "a conflict (409, ABORTED) that is "                          \
                 "retried")                                                    \
    BACKOFF_PART(X, backoff_timeout, "an attempt that timed out")              \
    X("retry_after.mode", retry_after.mode,                                    \
      TAKES_CHOICE(hint_names, "replace or floor"),                            \
      "Whether the server's hint replaces the computed wait, or is its "       \
      "minimum.")                                                              \
    X("retry_after.max", retry_after.max_ns,                                   \
      TAKES_DURATION_OR("none", BIDE_FOREVER), "A longer hint ends the call.") \
    X("retry_after.jitter", retry_after.jitter, TAKES_RATIO(0, 1),             \
      "Added on top of a hint: up to this share of it.")                       \
    X("retry_after.throttled_without_hint",                                    \
      retry_after.throttled_without_hint,                                      \
      TAKES_CHOICE(unhinted_names, "backoff or stop"),                         \
      "What to do when throttled without a hint for how long.")                \
    X("retry_after.then", retry_after.then,                                    \
      TAKES_CHOICE(then_names, "continue or restart"),                         \
      "After a wait that the server asked for, whether computed waits go on "  \
      "growing or start again from backoff.base.")                             \
    X("budget.kind", budget.kind,                                              \
      TAKES_CHOICE(budget_names, "off, window, quota, throttle or in_flight"), \
      "How retries of all calls together are limited.")                        \
    X("budget.ratio", budget.ratio, TAKES_RATIO(0, 1),                         \
      "Retries per deposit (window), or per call in flight (in_flight).")      \
    X("budget.window", budget.window_ns, TAKES_DURATION_FROM(100, ms, 1, h),   \
      "Of kind window: how far back deposits and retries count.")              \
    X("budget.floor", budget.floor_per_s, TAKES_RATE(0, 1000000),              \
      "Of kind window: retries that are granted whatever was deposited.")      \
    X("budget.deposit", budget.deposit,                                        \
      TAKES_CHOICE(deposit_names, "success or call"),                          \
      "Of kind window: what deposits: calls whose first attempt succeeds, "    \
      "or all calls.")                                                         \
    X("budget.capacity", budget.capacity, TAKES_COUNT(1, 1000000000),          \
      "Of kind quota: tokens in a full bucket.")                               \
    X("budget.cost", budget.cost, TAKES_COUNT(0, 1000000),                     \
      "Of kind quota: tokens that a retry costs.")                             \
    X("budget.cost_timeout", budget.cost_timeout, TAKES_COUNT(0, 1000000),     \
      "Of kind quota: tokens that a retry after a timeout costs.")             \
    X("budget.cost_throttled", budget.cost_throttled, TAKES_COUNT(0, 1000000), \
      "Of kind quota: tokens that a retry after throttling costs.")            \
    X("budget.refund", budget.refund, TAKES_COUNT(0, 1000000),                 \
      "Of kind quota: tokens that a success at the first attempt gives "       \
      "back.")                                                                 \
    X("budget.max_tokens", budget.max_tokens, TAKES_NUMBER(1, 1000),           \
      "Of kind throttle: tokens at the start; retries are granted above "      \
      "half of it.")                                                           \
    X("budget.token_ratio", budget.token_ratio, TAKES_NUMBER(0.001, 1000),     \
      "Of kind throttle: tokens that a success gives; a failure takes 1.")     \
    X("budget.min_in_flight", budget.min_in_flight, TAKES_COUNT(0, 1000000),   \
      "Of kind in_flight: retries at once that are granted whatever the "      \
      "calls.")                                                                \
    X("budget.per_call", budget.per_call, TAKES_RATIO_OVER_0(1),               \
      "The share of what the budget grants that one call may spend; one "      \
      "retry is always within it.")                                            \
    X("breaker.kind", breaker.kind,                                            \
      TAKES_CHOICE(breaker_names, "off, time or count"),                       \
      "Over what the breaker's rates are taken: the last seconds, or the "     \
      "last calls.")                                                           \
    X("breaker.mode", breaker.mode,                                            \
      TAKES_CHOICE(mode_names,                                                 \
                   "normal, forced_open, forced_closed or dry_run"),           \
      "Whether the breaker decides, is held in a state, or only reports.")     \
    X("breaker.window", breaker.window_ns, TAKES_DURATION_FROM(100, ms, 1, h), \
      "Of kind time: how far back attempts count.")                            \
    X("breaker.window_calls", breaker.window_calls, TAKES_COUNT(1, 1024),      \
      "Of kind count: how many attempts count.")                               \
    X("breaker.min_calls", breaker.min_calls,                                  \
      TAKES_COUNT(                                                             \
          1, 1000000000) ", not over breaker.window_calls for kind count",     \
      "With fewer attempts counted, no rate opens the breaker.")               \
    X("breaker.failure_rate", breaker.failure_rate, TAKES_RATIO_OVER_0(1),     \
      "The share of failed attempts that opens the breaker.")                  \
    X("breaker.slow_rate", breaker.slow_rate, TAKES_RATIO_OVER_0(1),           \
      "The share of slow attempts that opens the breaker.")                    \
    X("breaker.slow", breaker.slow_ns,                                         \
      TAKES_DURATION_OVER_0_OR("none", BIDE_FOREVER),                          \
      "An attempt that takes this long is slow, as is one that times out.")    \
    X("breaker.consecutive", breaker.consecutive,                              \
      TAKES_COUNT(0, 1000000) "; 0: never",                                    \
      "Failures in a row that open the breaker.")                              \
    X("breaker.open", breaker.open_ns, TAKES_DURATION_FROM(1, ms, 1, h),       \
      "How long the breaker stays open.")                                      \
    X("breaker.open_jitter", breaker.open_jitter, TAKES_RATIO(0, 1),           \
      "It stays open longer by up to this share, so that a fleet does not "    \
      "probe at once.")                                                        \
    X("breaker.open_factor", breaker.open_factor, TAKES_NUMBER(1, 100),        \
      "How much longer it stays open at each reopening in a row.")             \
    X("breaker.open_max", breaker.open_max_ns,                                 \
      TAKES_DURATION_FROM(1, ms, 24, h),                                       \
      "The longest that reopenings and hints make it stay open, before "       \
      "jitter; never under breaker.open.")                                     \
    X("breaker.probes", breaker.probes, TAKES_COUNT(1, 16),                    \
      "Attempts that a half-open breaker lets through; that many successes "   \
      "close it.")                                                             \
    X("breaker.probe_failure_rate", breaker.probe_failure_rate,                \
      TAKES_RATIO(0, 1) "; 0: one failure",                                    \
      "The share of failed probes that opens it again, once all have "         \
      "reported.")                                                             \
    X("hedge.max", hedge.max,                                                  \
      TAKES_COUNT(0, 4) ", and 0 unless attempts is 1",                        \
      "Extra attempts beside a slow one; instead of retries, never with "      \
      "them.")                                                                 \
    X("hedge.after", hedge.after_ns,                                           \
      TAKES_DURATION_OR("quantile", BIDE_FOREVER),                             \
      "When a hedge is sent: after this time, or after a quantile of "         \
      "latency.")                                                              \
    X("hedge.quantile", hedge.quantile,                                        \
      TAKES_RATIO(0.5, 0.999) ", with latency.measure on",                     \
      "Which quantile of recent latency.")                                     \
    X("hedge.min_samples", hedge.min_samples, TAKES_COUNT(1, 1000000),         \
      "Latencies that must have been measured before the quantile is "         \
      "believed.")                                                             \
    X("hedge.extra_load", hedge.extra_load,                                    \
      TAKES_RATIO(0, 4) ", not over hedge.max",                                \
      "The most hedges per call, whatever the budget; as much as hedge.max: "  \
      "no limit.")                                                             \
    X("hedge.window", hedge.window_ns, TAKES_DURATION_FROM(100, ms, 1, h),     \
      "How far back hedges and calls count for extra_load.")                   \
    X("limits.in_flight", limits.in_flight,                                    \
      TAKES_COUNT_OR(1, 1000000, "unlimited", BIDE_UNLIMITED),                 \
      "Attempts at once.")                                                     \
    X("limits.queue", limits.queue, TAKES_COUNT(0, 1000000),                   \
      "Calls that may wait for a place in flight; over that they are "         \
      "refused.")                                                              \
    X("limits.queue_timeout", limits.queue_timeout_ns, TAKES_DURATION,         \
      "How long a call may wait for a place in flight.")                       \
    X("limits.adaptive_rate", limits.adaptive_rate, TAKES_FLAG,                \
      "Slow down when throttled, and speed up again along a cubic curve.")     \
    X("limits.adaptive_throttle", limits.adaptive_throttle, TAKES_FLAG,        \
      "Refuse locally, by chance, what the server would most likely refuse.")  \
    X("limits.throttle_k", limits.throttle_k, TAKES_NUMBER(1, 100),            \
      "Of adaptive_throttle: requests let through per request accepted.")      \
    X("limits.throttle_window", limits.throttle_window_ns,                     \
      TAKES_DURATION_FROM(100, ms, 1, h),                                      \
      "Of adaptive_throttle: how far back requests and accepts count.")        \
    X("limits.shed", limits.shed, TAKES_RATIO_OVER_0(1),                       \
      "The share of in_flight in use from which on retries of a layer "        \
      "above are refused, and, half way from there to all, calls of low "      \
      "priority.")                                                             \
    X("limits.reserve", limits.reserve, TAKES_RATIO(0, 0.9),                   \
      "The share of in_flight that is kept for calls of high priority.")       \
    X("limits.rate", limits.rate, TAKES_RATE(0, 1000000) "; 0: no limit",      \
      "Attempts a second, first ones included; one that comes too soon waits " \
      "for its turn.")                                                         \
    X("limits.burst", limits.burst, TAKES_COUNT(1, 1000000),                   \
      "Of rate: attempts that may go at once after a pause.")                  \
    X("limits.rate_wait", limits.rate_wait_ns,                                 \
      TAKES_DURATION_OR("none", BIDE_FOREVER),                                 \
      "Of rate: an attempt that would wait longer for its turn is refused; "   \
      "without it, one that would miss the deadline.")                         \
    X("limits.adaptive", limits.adaptive,                                      \
      TAKES_CHOICE(adaptive_names, "off, aimd or gradient"),                   \
      "A cap on attempts at once that adapts, below in_flight: by failures "   \
      "of overload (aimd), or by rising latency too (gradient).")              \
    X("limits.adaptive_min", limits.adaptive_min,                              \
      TAKES_COUNT(1, 1000000) ", not over limits.adaptive_max",                \
      "The lowest that it falls to.")                                          \
    X("limits.adaptive_max", limits.adaptive_max, TAKES_COUNT(1, 1000000),     \
      "The highest that it rises to.")                                         \
    X("limits.adaptive_initial", limits.adaptive_initial,                      \
      TAKES_COUNT(1, 1000000) ", from limits.adaptive_min to "                 \
                              "limits.adaptive_max",                           \
      "Where it starts.")                                                      \
    X("latency.measure", latency.measure, TAKES_FLAG,                          \
      "Measure latency; hedging by quantile needs it.")                        \
    X("latency.window", latency.window_ns, TAKES_DURATION_FROM(100, ms, 1, h), \
      "How far back latency counts.")                                          \
    X("trust.envoy", trust.envoy, TAKES_FLAG,                                  \
      "Believe Envoy: `x-envoy-attempt-count` says that it retries, "          \
      "`x-envoy-expected-rq-timeout-ms` how long it waits, and "               \
      "`x-envoy-overloaded` not to retry.")                                    \
    X("trust.grpc", trust.grpc, TAKES_FLAG,                                    \
      "Believe gRPC clients: `grpc-previous-rpc-attempts` says that they "     \
      "retry, and `grpc-timeout` how long they wait.")                         \
    X("trust.aws", trust.aws, TAKES_FLAG,                                      \
      "Believe AWS SDKs: `amz-sdk-request` says that they retry.")             \
    X("lanes", lanes, TAKES(COUNT, 1, 64, "a power of 2 from 1 to 64"),        \
      "Copies of the busiest counters, so that threads do not wait for "       \
      "each other.")

static const bide_option options[] = {
#define ROW(key, field, type, min, max, above, special, value, names, expects, \
            help)                                                              \
    { key,     type,  offsetof(bide_policy_conf, field),                       \
      min,     max,   above,                                                   \
      special, value, names,                                                   \
      expects, help,  { NULL } },
#define X(key, field, takes, help) ROW(key, field, takes, help)
    OPTIONS(X)
#undef X
#undef ROW
};

/* The complete sentence, so that an error message needs no memory. */
static const char *const mistakes[] = {
#define ROW(key, type, min, max, above, special, value, names, expects)        \
    key ": expected " expects,
#define X(key, field, takes, help) ROW(key, takes)
    OPTIONS(X)
#undef X
#undef ROW
};

enum { N_OPTIONS = sizeof options / sizeof options[0] };

const bide_option *bide_policy_options(size_t *ret_n)
{
    if (ret_n)
        *ret_n = N_OPTIONS;
    return options;
}

const char *bide__option_key(int n)
{
    return n >= 0 && n < N_OPTIONS ? options[n].key : NULL;
}

const char *bide__option_error(int n)
{
    return n >= 0 && n < N_OPTIONS ? mistakes[n] : NULL;
}
