/* The table of options: every field of a policy, once.
 *
 * Key, type, bounds, what is expected, and a sentence of help. Checking
 * (policy.c), policy files, the reference page and the editors' schema all read
 * this table; the defaults are what BIDE_POLICY_CONF_INIT holds. */
#include <stddef.h>

#include "lib/policy.h"

#define MS 1e6
#define HOUR 3600e9
#define MAX_NS 9223372036854775807.0

/* The names of each choice, in the order of its enum. */
#define X(name, key) key,
#define XJ(name, key, what) key,
static const char *const nested_names[] = { BIDE_NESTED_ACTIONS(X) NULL };
static const char *const key_names[] = { BIDE_KEY_ACTIONS(X) NULL };
static const char *const jitter_names[] = { BIDE_JITTERS(XJ) NULL };
static const char *const hint_names[] = { BIDE_HINT_MODES(X) NULL };
static const char *const unhinted_names[] = { BIDE_UNHINTED_ACTIONS(X) NULL };
static const char *const budget_names[] = { BIDE_BUDGETS(X) NULL };
static const char *const deposit_names[] = { BIDE_DEPOSITS(X) NULL };
static const char *const breaker_names[] = { BIDE_BREAKERS(X) NULL };
static const char *const mode_names[] = { BIDE_BREAKER_MODES(X) NULL };
#undef X
#undef XJ

/* X(key, type, field, min, max, above_min, special, special_value, choices,
 *   expects, help) */
#define OPTIONS(X)                                                             \
    X("attempts", COUNT, attempts, 1, 2147483648.0, false, NULL, 0, NULL,      \
      "a count from 1 to 2147483648",                                          \
      "Attempts of a call, the first included.")                               \
    X("attempt_timeout", DURATION, attempt_timeout_ns, 0, MAX_NS, true,        \
      "none", BIDE_FOREVER, NULL,                                              \
      "a duration over 0, or none",                                            \
      "How long one attempt may take; clipped to what is left of the "         \
      "deadline.")                                                             \
    X("attempt_min", DURATION, attempt_min_ns, 0, MAX_NS, false, NULL, 0,      \
      NULL,                                                                    \
      "a duration",                                                            \
      "The shortest attempt worth making: with less left of the "              \
      "deadline, none is made.")                                               \
    X("deadline", DURATION, deadline_ns, 0, MAX_NS, true, "none",              \
      BIDE_FOREVER, NULL,                                                      \
      "a duration over 0, or none",                                            \
      "How long a call may take in all, waits included.")                      \
    X("nested", CHOICE, nested, 0, 0, false, NULL, 0, nested_names,            \
      "pass or retry",                                                         \
      "When a layer above already retries: pass the outcome up, or "           \
      "retry here too.")                                                       \
    X("idempotency.key", CHOICE, idempotency_key, 0, 0, false, NULL, 0,        \
      key_names,                                                               \
      "none or generate",                                                      \
      "Give calls that carry no Idempotency-Key one, the same on each "        \
      "attempt.")                                                              \
    X("backoff.base", DURATION, backoff.base_ns, 0, MAX_NS, false, NULL, 0,    \
      NULL,                                                                    \
      "a duration, not over backoff.cap",                                      \
      "The wait before the first retry, before jitter.")                       \
    X("backoff.factor", NUMBER, backoff.factor, 1, 1000, false, NULL, 0,       \
      NULL,                                                                    \
      "a number from 1 to 1000",                                               \
      "How much longer each wait is than the one before.")                     \
    X("backoff.cap", DURATION, backoff.cap_ns, 0, MAX_NS, false, NULL, 0,      \
      NULL,                                                                    \
      "a duration, not under backoff.base or backoff.floor",                   \
      "No computed wait is longer.")                                           \
    X("backoff.jitter", CHOICE, backoff.jitter, 0, 0, false, NULL, 0,          \
      jitter_names,                                                            \
      "none, full, equal, decorrelated or proportional",                       \
      "How waits are spread, so that clients that failed together do "         \
      "not return together.")                                                  \
    X("backoff.spread", RATIO, backoff.spread, 0, 1, false, NULL, 0, NULL,     \
      "a ratio from 0 to 1",                                                   \
      "Of proportional jitter: the wait is drawn from 1 - spread to 1 "        \
      "+ spread times its value.")                                             \
    X("backoff.floor", DURATION, backoff.floor_ns, 0, MAX_NS, false, NULL, 0,  \
      NULL,                                                                    \
      "a duration, not over backoff.cap",                                      \
      "No computed wait is shorter; jitter stays above it.")                   \
    X("backoff.immediate_first", FLAG, backoff.immediate_first, 0, 0, false,   \
      NULL, 0, NULL,                                                           \
      "true or false",                                                         \
      "The first retry after a failure to connect goes at once.")              \
    X("backoff.throttled_base", DURATION, backoff.throttled_base_ns, 0,        \
      MAX_NS, false, "same", BIDE_SAME, NULL,                                  \
      "a duration, not over backoff.cap, or same",                             \
      "The base of waits after a throttled answer; the same as "               \
      "backoff.base unless set.")                                              \
    X("retry_after.mode", CHOICE, retry_after.mode, 0, 0, false, NULL, 0,      \
      hint_names,                                                              \
      "replace or floor",                                                      \
      "Whether the server's word stands in place of the computed "             \
      "wait, or is its minimum.")                                              \
    X("retry_after.max", DURATION, retry_after.max_ns, 0, MAX_NS, false,       \
      "none", BIDE_FOREVER, NULL,                                              \
      "a duration, or none",                                                   \
      "A longer hint ends the call.")                                          \
    X("retry_after.jitter", RATIO, retry_after.jitter, 0, 1, false, NULL, 0,   \
      NULL,                                                                    \
      "a ratio from 0 to 1",                                                   \
      "Added on top of a hint: up to this share of it.")                       \
    X("retry_after.throttled_without_hint", CHOICE,                            \
      retry_after.throttled_without_hint, 0, 0, false, NULL, 0,                \
      unhinted_names,                                                          \
      "backoff or stop",                                                       \
      "What to do when throttled without being told for how long.")            \
    X("budget.kind", CHOICE, budget.kind, 0, 0, false, NULL, 0, budget_names,  \
      "off, window, quota, throttle or in_flight",                             \
      "How retries of all calls together are limited.")                        \
    X("budget.ratio", RATIO, budget.ratio, 0, 1, false, NULL, 0, NULL,         \
      "a ratio from 0 to 1",                                                   \
      "Retries per deposit (window), or per call in flight "                   \
      "(in_flight).")                                                          \
    X("budget.window", DURATION, budget.window_ns, 100 * MS, HOUR, false,      \
      NULL, 0, NULL,                                                           \
      "a duration from 100ms to 1h",                                           \
      "Of kind window: how far back deposits and retries count.")              \
    X("budget.floor", RATE, budget.floor_per_s, 0, 1e6, false, NULL, 0, NULL,  \
      "a rate from 0/s to 1000000/s",                                          \
      "Of kind window: retries that are granted whatever was "                 \
      "deposited.")                                                            \
    X("budget.deposit", CHOICE, budget.deposit, 0, 0, false, NULL, 0,          \
      deposit_names,                                                           \
      "success or call",                                                       \
      "Of kind window: what deposits: calls whose first attempt "              \
      "succeeds, or all calls.")                                               \
    X("budget.capacity", COUNT, budget.capacity, 1, 1e9, false, NULL, 0,       \
      NULL,                                                                    \
      "a count from 1 to 1000000000",                                          \
      "Of kind quota: tokens in a full bucket.")                               \
    X("budget.cost", COUNT, budget.cost, 0, 1e6, false, NULL, 0, NULL,         \
      "a count from 0 to 1000000",                                             \
      "Of kind quota: tokens that a retry costs.")                             \
    X("budget.cost_timeout", COUNT, budget.cost_timeout, 0, 1e6, false, NULL,  \
      0, NULL,                                                                 \
      "a count from 0 to 1000000",                                             \
      "Of kind quota: tokens that a retry after a timeout costs.")             \
    X("budget.cost_throttled", COUNT, budget.cost_throttled, 0, 1e6, false,    \
      NULL, 0, NULL,                                                           \
      "a count from 0 to 1000000",                                             \
      "Of kind quota: tokens that a retry after throttling costs.")            \
    X("budget.refund", COUNT, budget.refund, 0, 1e6, false, NULL, 0, NULL,     \
      "a count from 0 to 1000000",                                             \
      "Of kind quota: tokens that a success at the first attempt "             \
      "gives back.")                                                           \
    X("budget.max_tokens", NUMBER, budget.max_tokens, 1, 1000, false, NULL,    \
      0, NULL,                                                                 \
      "a number from 1 to 1000",                                               \
      "Of kind throttle: tokens at the start; retries are granted "            \
      "above half of it.")                                                     \
    X("budget.token_ratio", NUMBER, budget.token_ratio, 0.001, 1000, false,    \
      NULL, 0, NULL,                                                           \
      "a number from 0.001 to 1000",                                           \
      "Of kind throttle: tokens that a success gives; a failure takes "        \
      "1.")                                                                    \
    X("budget.min_in_flight", COUNT, budget.min_in_flight, 0, 1e6, false,      \
      NULL, 0, NULL,                                                           \
      "a count from 0 to 1000000",                                             \
      "Of kind in_flight: retries at once that are granted whatever "          \
      "the calls.")                                                            \
    X("breaker.kind", CHOICE, breaker.kind, 0, 0, false, NULL, 0,              \
      breaker_names,                                                           \
      "off, time or count",                                                    \
      "Over what the breaker's rates are taken: the last seconds, or "         \
      "the last calls.")                                                       \
    X("breaker.mode", CHOICE, breaker.mode, 0, 0, false, NULL, 0, mode_names,  \
      "normal, forced_open, forced_closed or dry_run",                         \
      "Whether the breaker decides, is held in a state, or only "              \
      "reports.")                                                              \
    X("breaker.window", DURATION, breaker.window_ns, 100 * MS, HOUR, false,    \
      NULL, 0, NULL,                                                           \
      "a duration from 100ms to 1h",                                           \
      "Of kind time: how far back attempts count.")                            \
    X("breaker.window_calls", COUNT, breaker.window_calls, 1, 1024, false,     \
      NULL, 0, NULL,                                                           \
      "a count from 1 to 1024",                                                \
      "Of kind count: how many attempts count.")                               \
    X("breaker.min_calls", COUNT, breaker.min_calls, 1, 1e9, false, NULL, 0,   \
      NULL,                                                                    \
      "a count from 1 to 1000000000, not over breaker.window_calls "           \
      "for kind count",                                                        \
      "With fewer attempts counted, no rate opens the breaker.")               \
    X("breaker.failure_rate", RATIO, breaker.failure_rate, 0, 1, true, NULL,   \
      0, NULL,                                                                 \
      "a ratio over 0, up to 1",                                               \
      "The share of failed attempts that opens the breaker.")                  \
    X("breaker.slow_rate", RATIO, breaker.slow_rate, 0, 1, true, NULL, 0,      \
      NULL,                                                                    \
      "a ratio over 0, up to 1",                                               \
      "The share of slow attempts that opens the breaker.")                    \
    X("breaker.slow", DURATION, breaker.slow_ns, 0, MAX_NS, true, "none",      \
      BIDE_FOREVER, NULL,                                                      \
      "a duration over 0, or none",                                            \
      "An attempt that takes this long is slow.")                              \
    X("breaker.consecutive", COUNT, breaker.consecutive, 0, 1e6, false, NULL,  \
      0, NULL,                                                                 \
      "a count from 0 to 1000000; 0: never",                                   \
      "Failures in a row that open the breaker.")                              \
    X("breaker.open", DURATION, breaker.open_ns, MS, HOUR, false, NULL, 0,     \
      NULL,                                                                    \
      "a duration from 1ms to 1h",                                             \
      "How long the breaker stays open.")                                      \
    X("breaker.open_jitter", RATIO, breaker.open_jitter, 0, 1, false, NULL,    \
      0, NULL,                                                                 \
      "a ratio from 0 to 1",                                                   \
      "It stays open longer by up to this share, so that a fleet does "        \
      "not probe at once.")                                                    \
    X("breaker.open_factor", NUMBER, breaker.open_factor, 1, 100, false,       \
      NULL, 0, NULL,                                                           \
      "a number from 1 to 100",                                                \
      "How much longer it stays open at each reopening in a row.")             \
    X("breaker.open_max", DURATION, breaker.open_max_ns, MS, 24 * HOUR,        \
      false, NULL, 0, NULL,                                                    \
      "a duration from breaker.open to 24h",                                   \
      "The longest that reopenings and hints make it stay open, "              \
      "before jitter.")                                                        \
    X("breaker.probes", COUNT, breaker.probes, 1, 16, false, NULL, 0, NULL,    \
      "a count from 1 to 16",                                                  \
      "Attempts that a half-open breaker lets through; that many "             \
      "successes close it.")                                                   \
    X("breaker.probe_failure_rate", RATIO, breaker.probe_failure_rate, 0, 1,   \
      false, NULL, 0, NULL,                                                    \
      "a ratio from 0 to 1; 0: one failure",                                   \
      "The share of failed probes that opens it again, once all have "         \
      "reported.")                                                             \
    X("hedge.max", COUNT, hedge.max, 0, 4, false, NULL, 0, NULL,               \
      "a count from 0 to 4, and 0 unless attempts is 1",                       \
      "Extra attempts beside a slow one; instead of retries, never "           \
      "with them.")                                                            \
    X("hedge.after", DURATION, hedge.after_ns, 0, MAX_NS, false, "quantile",   \
      BIDE_FOREVER, NULL,                                                      \
      "a duration, or quantile",                                               \
      "When a hedge is sent: after this time, or after a quantile of "         \
      "latency.")                                                              \
    X("hedge.quantile", RATIO, hedge.quantile, 0.5, 0.999, false, NULL, 0,     \
      NULL,                                                                    \
      "a ratio from 0.5 to 0.999, with latency.measure on",                    \
      "Which quantile of recent latency.")                                     \
    X("hedge.min_samples", COUNT, hedge.min_samples, 1, 1e6, false, NULL, 0,   \
      NULL,                                                                    \
      "a count from 1 to 1000000",                                             \
      "Latencies that must have been measured before the quantile is "         \
      "believed.")                                                             \
    X("hedge.extra_load", RATIO, hedge.extra_load, 0, 1, false, NULL, 0,       \
      NULL,                                                                    \
      "a ratio from 0 to 1",                                                   \
      "The most hedges per call, whatever the budget.")                        \
    X("limits.in_flight", COUNT, limits.in_flight, 1, 1e6, false,              \
      "unlimited", BIDE_UNLIMITED, NULL,                                       \
      "a count from 1 to 1000000, or unlimited",                               \
      "Attempts at once.")                                                     \
    X("limits.queue", COUNT, limits.queue, 0, 1e6, false, NULL, 0, NULL,       \
      "a count from 0 to 1000000",                                             \
      "Calls that may wait for a place in flight; over that they are "         \
      "refused.")                                                              \
    X("limits.queue_timeout", DURATION, limits.queue_timeout_ns, 0, MAX_NS,    \
      false, NULL, 0, NULL,                                                    \
      "a duration",                                                            \
      "How long a call may wait for a place in flight.")                       \
    X("limits.adaptive_rate", FLAG, limits.adaptive_rate, 0, 0, false, NULL,   \
      0, NULL,                                                                 \
      "true or false",                                                         \
      "Slow down when throttled, and speed up again along a cubic "            \
      "curve.")                                                                \
    X("limits.adaptive_throttle", FLAG, limits.adaptive_throttle, 0, 0,        \
      false, NULL, 0, NULL,                                                    \
      "true or false",                                                         \
      "Refuse locally, by chance, what the server would most likely "          \
      "refuse.")                                                               \
    X("limits.throttle_k", NUMBER, limits.throttle_k, 1, 100, false, NULL, 0,  \
      NULL,                                                                    \
      "a number from 1 to 100",                                                \
      "Of adaptive_throttle: requests let through per request "                \
      "accepted.")                                                             \
    X("limits.throttle_window", DURATION, limits.throttle_window_ns,           \
      100 * MS, HOUR, false, NULL, 0, NULL,                                    \
      "a duration from 100ms to 1h",                                           \
      "Of adaptive_throttle: how far back requests and accepts count.")        \
    X("limits.shed", RATIO, limits.shed, 0, 1, true, NULL, 0, NULL,            \
      "a ratio over 0, up to 1",                                               \
      "The share of in_flight in use from which on retries of a layer "        \
      "above are refused, and, half way from there to all, calls of low "      \
      "priority.")                                                             \
    X("limits.reserve", RATIO, limits.reserve, 0, 0.9, false, NULL, 0, NULL,   \
      "a ratio from 0 to 0.9",                                                 \
      "The share of in_flight that is kept for calls of high priority.")       \
    X("latency.measure", FLAG, latency.measure, 0, 0, false, NULL, 0, NULL,    \
      "true or false",                                                         \
      "Measure latency; hedging by quantile needs it.")                        \
    X("latency.window", DURATION, latency.window_ns, 100 * MS, HOUR, false,    \
      NULL, 0, NULL,                                                           \
      "a duration from 100ms to 1h",                                           \
      "How far back latency counts.")                                          \
    X("lanes", COUNT, lanes, 1, 64, false, NULL, 0, NULL,                      \
      "a power of 2 from 1 to 64",                                             \
      "Copies of the busiest counters, so that threads do not wait "           \
      "for each other.")

static const bide_option options[] = {
#define X(key, type, field, min, max, above, special, value, names, expects,   \
          help)                                                                \
    { key,     BIDE_OPTION_##type, offsetof(bide_policy_conf, field),          \
      min,     max,                above,                                      \
      special, value,              names,                                      \
      expects, help },
    OPTIONS(X)
#undef X
};

/* The whole sentence, so that an error needs no memory to be put together in. */
static const char *const mistakes[] = {
#define X(key, type, field, min, max, above, special, value, names, expects,   \
          help)                                                                \
    key ": expected " expects,
    OPTIONS(X)
#undef X
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
