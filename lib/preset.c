/* The three sets of defaults, and what well-known systems do, as policies.
 *
 * Each of the others starts from BIDE_POLICY_CONF_INIT and sets what its system has
 * published. Where a system says nothing, bide's default stays; if it has no
 * breaker, the breaker is off, and none of them waits for a dependency that
 * accepts no connections. Presets are numbers: which responses are
 * retried, and that a request which may have been processed is not sent again
 * unless that is harmless, stays as in bide. So does `nested`: none of these
 * systems knows that a layer above retries too.
 *
 * Where documentation and code of a system differ, the code is followed, and
 * the comment says so. */
#include <stddef.h>
#include <string.h>

#include "bide/error.h"
#include "bide/policy.h"

/* The defaults of the library and the sidecar. docs/defaults.md shows why each
 * number is what it is. */
static void service(bide_policy_conf *c)
{
    (void)c;
}

/* The defaults of commands, downloads and batches: nobody waits for the answer
 * within a second, and giving up is worse than being late. Ten attempts with
 * waits that are never under half of their value take at least 75 s. */
static void patient(bide_policy_conf *c)
{
    c->attempts = 10;
    c->attempt_timeout_ns = BIDE_FOREVER;
    c->backoff.jitter = BIDE_JITTER_EQUAL;
    c->backoff.base_ns = BIDE_SECOND;
    c->backoff.cap_ns = 30 * BIDE_SECOND;
    c->budget.floor_per_s = 10;
    c->when_refused = BIDE_REFUSED_WAIT;
    c->unreachable.wait_ns = 2 * BIDE_MINUTE;
}

/* The defaults of the queue worker: nobody waits, the message is kept, and what is
 * wrong may need a person to repair it, who sleeps at night. Waits of 3 s, 9 s, 27 s
 * ... up to 3.5 h, a quarter more or less: the first is over within 5 s, 15 attempts
 * take between 17.8 and 24.4 h. Whether the handler is there at all is the worker's
 * question, which pauses instead of using up attempts (base/queue_pace.h): so
 * nothing waits at the gate, and retries have their share of the worker's places
 * instead of a budget. */
static void queue(bide_policy_conf *c)
{
    c->attempts = 15;
    c->attempt_timeout_ns = BIDE_FOREVER;
    c->backoff.jitter = BIDE_JITTER_PROPORTIONAL;
    c->backoff.spread = 0.25;
    c->backoff.base_ns = 3 * BIDE_SECOND;
    c->backoff.factor = 3;
    c->backoff.cap_ns = 210 * BIDE_MINUTE;
    c->budget.kind = BIDE_BUDGET_OFF;
    c->unreachable.wait_ns = 0;
}

/* ===== other systems ===== */

/* Site Reliability Engineering (Google, 2016), chapter 21, "Handling Overload":
 * up to 3 attempts of a request; of a client's requests at most 10 % are
 * retries, so that load grows to 1.1 times and not to 3; requests beyond K = 2
 * times what was accepted in the last 2 minutes are refused locally.
 *
 * Chapter 21 retries an overloaded task's request at once, on another task;
 * chapter 22 wants randomized exponential backoff, and gives no numbers: those
 * are bide's. Nor does the book name the window of the 10 %, or a floor; but a
 * share "below 10 %" always allows a first retry, hence one per window.
 * Not expressed: "overloaded, don't retry" passed up through the layers is what
 * X-Bide-Retry does, for every policy. */
static void sre(bide_policy_conf *c)
{
    c->attempts = 3;
    c->budget.kind = BIDE_BUDGET_WINDOW;
    c->budget.ratio = 0.1;
    c->budget.deposit = BIDE_DEPOSIT_CALL;
    c->budget.window_ns = 10 * BIDE_SECOND;
    c->budget.floor_per_s = 0.1;
    c->breaker.kind = BIDE_BREAKER_OFF;
    c->limits.adaptive_throttle = true;
    c->limits.throttle_k = 2;
    c->limits.throttle_window_ns = 2 * BIDE_MINUTE;
}

/* AWS SDKs and Tools Reference Guide, "Retry behavior", standard mode as it was
 * before 2026, with the numbers of botocore where the guide gives none: 3
 * attempts; wait random(0, 1) * min(2^n, 20) seconds; a quota of 500 tokens, a
 * retry costs 5, after a timeout 10, a success at the first attempt gives back
 * 1 and a retry that succeeds its cost.
 *
 * Not the same in all SDKs: that of JavaScript starts at 100 ms, and at 500 ms
 * after throttling; that of Go clamps after the draw, which two retries do not
 * reach. Not expressed: timeouts differ from SDK to SDK and stay bide's;
 * Retry-After is a minimum in some, unknown to others. */
static void aws_standard(bide_policy_conf *c)
{
    c->attempts = 3;
    c->backoff.jitter = BIDE_JITTER_FULL;
    c->backoff.base_ns = BIDE_SECOND;
    c->backoff.factor = 2;
    c->backoff.cap_ns = 20 * BIDE_SECOND;
    c->retry_after.mode = BIDE_HINT_FLOOR;
    c->budget.kind = BIDE_BUDGET_QUOTA;
    c->budget.capacity = 500;
    c->budget.cost = 5;
    c->budget.cost_timeout = 10;
    c->budget.cost_throttled = 5;
    c->budget.refund = 1;
    c->breaker.kind = BIDE_BREAKER_OFF;
}

/* The same guide and the announcement of May 2026 (AWS_NEW_RETRIES_2026, the
 * default since November 2026): a retry costs 14 tokens, after a timeout too,
 * after throttling 5; the base is 50 ms, after throttling 1 s; the cap of 20 s
 * comes before the jitter.
 *
 * Not expressed: DynamoDB's own base (25 ms) and attempts (4); long-polling
 * operations, which have rules of their own; x-amz-retry-after is not read, and
 * is there at most 5 s over the computed wait, while bide gives up over
 * retry_after.max and never waits less than a hint. */
static void aws_2026(bide_policy_conf *c)
{
    aws_standard(c);
    c->backoff.base_ns = 50 * BIDE_MILLISECOND;
    c->backoff_throttled.base_ns = BIDE_SECOND;
    c->budget.cost = 14;
    c->budget.cost_timeout = 14;
    c->budget.cost_throttled = 5;
}

/* gRFC A6, "gRPC Retry Design". gRPC does not retry by itself; these are the
 * numbers of the document's own example: 4 attempts (never more than 5), 100
 * ms, times 2, up to 1 s; retryThrottling with 10 tokens and a ratio of 0.1.
 * Jitter is 0.8 to 1.2 (as amended in 2024; from 0 to the full value before). A
 * server's pushback replaces the wait and is obeyed to the millisecond.
 *
 * In gRPC the jitter may go over maxBackoff, in bide it never does; three
 * retries do not get there. Not expressed: only UNAVAILABLE is retried in the
 * example, bide also retries RESOURCE_EXHAUSTED unless a rule says otherwise;
 * attempts have no timeout of their own in gRPC, so it is bide's. After a
 * pushback, gRPC starts again at the first backoff. */
static void grpc(bide_policy_conf *c)
{
    c->attempts = 4;
    c->backoff.jitter = BIDE_JITTER_PROPORTIONAL;
    c->backoff.spread = 0.2;
    c->backoff.base_ns = 100 * BIDE_MILLISECOND;
    c->backoff.factor = 2;
    c->backoff.cap_ns = BIDE_SECOND;
    c->retry_after.mode = BIDE_HINT_REPLACE;
    c->retry_after.jitter = 0;
    c->retry_after.then = BIDE_THEN_RESTART;
    c->budget.kind = BIDE_BUDGET_THROTTLE;
    c->budget.max_tokens = 10;
    c->budget.token_ratio = 0.1;
    c->breaker.kind = BIDE_BREAKER_OFF;
}

/* Envoy's v3 API. RetryPolicy: num_retries 1, base_interval 25 ms, max_interval
 * 10 times that. RetryBudget, once a cluster has one: budget_percent 20,
 * min_retry_concurrency 3. RouteAction: timeout 15 s with all retries, and as
 * long for one try. Thresholds: max_requests 1024.
 *
 * The documentation's waits of retry N are within (2^N - 1) * 25 ms; the code
 * doubles, and is followed here. Not expressed: retries that wait are not
 * counted by Envoy's budget, by bide's they are; without a RetryBudget there is
 * a plain limit of 3 retries at once; hints are ignored by Envoy unless it is
 * told to read them, and outlier detection is off unless it is configured. */
static void envoy(bide_policy_conf *c)
{
    c->attempts = 2;
    c->attempt_timeout_ns = 15 * BIDE_SECOND;
    c->deadline_ns = 15 * BIDE_SECOND;
    c->backoff.jitter = BIDE_JITTER_FULL;
    c->backoff.base_ns = 25 * BIDE_MILLISECOND;
    c->backoff.factor = 2;
    c->backoff.cap_ns = 250 * BIDE_MILLISECOND;
    c->budget.kind = BIDE_BUDGET_IN_FLIGHT;
    c->budget.ratio = 0.2;
    c->budget.min_in_flight = 3;
    c->breaker.kind = BIDE_BREAKER_OFF;
    c->limits.in_flight = 1024;
}

/* Finagle, its user guide ("Clients") and finagle-core. RetryBudget(): deposits
 * live 10 s, every request deposits, 20 % may be retried and 10 a second in any
 * case. MethodBuilder: 2 retries, RetryPolicy.tries: decorrelated jitter from 5
 * to 200 ms; what was never written is requeued at once. FailureAccrualFactory:
 * dead after 5 failures in a row, or under 80 % successes of at least 5
 * requests in 30 s; for 5 s, doubling to 300 s.
 *
 * Not expressed: requeues have a limit of their own, 20 % of the budget's
 * balance; the dead time is drawn from its upper half, in bide it is
 * lengthened; Finagle's failure accrual is per endpoint, bide's breaker per
 * dependency. */
static void finagle(bide_policy_conf *c)
{
    c->attempts = 3;
    c->backoff.jitter = BIDE_JITTER_DECORRELATED;
    c->backoff.base_ns = 5 * BIDE_MILLISECOND;
    c->backoff.cap_ns = 200 * BIDE_MILLISECOND;
    c->backoff.immediate_first = true;
    c->budget.kind = BIDE_BUDGET_WINDOW;
    c->budget.ratio = 0.2;
    c->budget.window_ns = 10 * BIDE_SECOND;
    c->budget.floor_per_s = 10;
    c->budget.deposit = BIDE_DEPOSIT_CALL;
    c->breaker.kind = BIDE_BREAKER_TIME;
    c->breaker.window_ns = 30 * BIDE_SECOND;
    c->breaker.min_calls = 5;
    c->breaker.failure_rate = 0.2;
    c->breaker.slow_rate = 1;
    c->breaker.consecutive = 5;
    c->breaker.open_ns = 5 * BIDE_SECOND;
    c->breaker.open_factor = 2;
    c->breaker.open_max_ns = 300 * BIDE_SECOND;
    c->breaker.probes = 1;
}

static const struct {
    const char *name, *text;
    void (*fill)(bide_policy_conf *conf);
} presets[] = {
    { "service",
      "The defaults: short waits, a budget, a breaker; a restart is waited for.",
      service },
    { "patient",
      "For commands and downloads: waits of a second and more, over a minute in "
      "all.",
      patient },
    { "queue",
      "For queue workers: waits from 3 s to 3.5 h, 15 attempts in about 21 h.",
      queue },
    { "sre",
      "Google's SRE book: 3 attempts, 10 % retries, adaptive throttling.",
      sre },
    { "aws-standard",
      "AWS SDKs, standard mode until 2026: 3 attempts, a quota of 500 tokens.",
      aws_standard },
    { "aws-2026",
      "AWS SDKs, standard mode from 2026: dearer retries, shorter waits.",
      aws_2026 },
    { "grpc",
      "gRPC (gRFC A6): 4 attempts, 100 ms to 1 s, 10 tokens for failures.",
      grpc },
    { "envoy",
      "Envoy: 1 retry, 25 ms to 250 ms, 20 % of the requests in flight.",
      envoy },
    { "finagle",
      "Finagle: 2 retries, 5 ms to 200 ms, 20 % of requests and 10 a second.",
      finagle },
};

enum { N_PRESETS = sizeof presets / sizeof presets[0] };
enum { N_OWN = 3 }; /* the first of them */

int bide_policy_preset(bide_policy_conf *conf, const char *name)
{
    if (!conf || !name)
        return BIDE_EINVAL;
    for (size_t i = 0; i < N_PRESETS; i++) {
        if (strcmp(name, presets[i].name) == 0) {
            *conf = (bide_policy_conf)BIDE_POLICY_CONF_INIT;
            if (i >= N_OWN)
                conf->unreachable.wait_ns = 0;
            presets[i].fill(conf);
            return 0;
        }
    }
    return BIDE_ENAME;
}

const char *bide_policy_preset_name(size_t n)
{
    return n < N_PRESETS ? presets[n].name : NULL;
}

const char *bide_policy_preset_text(size_t n)
{
    return n < N_PRESETS ? presets[n].text : NULL;
}
