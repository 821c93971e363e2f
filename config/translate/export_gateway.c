/* export_gateway.c: a policy for Kubernetes' Gateway API, in YAML: timeouts and
 * retries of an HTTPRoute, and the budget as an XBackendTrafficPolicy.
 *
 * `retry` has a list of statuses from 400 to 599, a count of retries and the
 * shortest wait between them; failures to connect, resets and timeouts are
 * retried by every implementation. How waits grow is left to it. */
#include <math.h>

#include "config/policy/retry_set.h"
#include "config/policy/write_policy.h"
#include "config/translate/export_istio.h"
#include "config/translate/mesh.h"
#include "config/translate/translate.h"
#include "config/translate/translate_value.h"

enum { MAX_HOURS = 99999 };

/* ===== values ===== */

/* Up to four numbers of five digits: 1h30m, 1s500ms. */
static void duration(struct bide__translation *t, FILE *out, const char *option,
                     const char *key, int64_t ns)
{
    int64_t ms = ns / BIDE_MILLISECOND + (ns % BIDE_MILLISECOND != 0);
    long long hours = ms / 3600000;

    bide__kept(t, option);
    if (hours > MAX_HOURS)
        hours = MAX_HOURS;
    if (ns % BIDE_MILLISECOND != 0 || hours == MAX_HOURS)
        bide__approximated(t, option,
                           "a duration is whole milliseconds, up to "
                           "99999 hours",
                           hours == MAX_HOURS ? "99999h"
                                              : "the next millisecond");
    fprintf(out, "%s: ", key);
    if (hours)
        fprintf(out, "%lldh", hours);
    if (hours < MAX_HOURS && ms / 60000 % 60)
        fprintf(out, "%lldm", (long long)(ms / 60000 % 60));
    if (hours < MAX_HOURS && ms / 1000 % 60)
        fprintf(out, "%llds", (long long)(ms / 1000 % 60));
    if (hours < MAX_HOURS && ms % 1000)
        fprintf(out, "%lldms", (long long)(ms % 1000));
    fprintf(out, ms ? "\n" : "0s\n");
}

static void head(const char *version, const char *kind,
                 const struct bide__export_names *names, FILE *out)
{
    fprintf(out, "apiVersion: %s\nkind: %s\nmetadata:\n  name: ", version,
            kind);
    bide__kubernetes_name(names->host, out);
    fprintf(out, "\nspec:\n");
}

/* ===== HTTPRoute ===== */

static void timeouts(struct bide__translation *t, FILE *out)
{
    const bide_policy_conf *c = t->conf;
    int64_t call_ns = bide__call_timeout(t), try_ns = c->attempt_timeout_ns;
    bool tries = bide__tries_again(c) && try_ns != BIDE_FOREVER;

    if (call_ns == BIDE_FOREVER && !tries)
        return;
    fprintf(out, "    timeouts:\n");
    if (call_ns != BIDE_FOREVER)
        duration(t, out,
                 call_ns == c->deadline_ns ? "deadline" : "attempt_timeout",
                 "      request", call_ns);
    if (!tries)
        return;
    duration(t, out, "attempt_timeout", "      backendRequest",
             try_ns < call_ns ? try_ns : call_ns);
    if (try_ns > call_ns)
        bide__approximated(t, "attempt_timeout",
                           "it is not over the timeout of the request",
                           "the deadline");
}

/* Statuses outside of 400 to 599 cannot be listed. */
static bool codes(struct bide__translation *t,
                  const struct bide__retry_set *set, FILE *out)
{
    struct bide__retry_set other = { { 0 }, 0, 0 };
    const char *comma = "";
    bool lost = false;

    fprintf(out, "      codes: [");
    for (unsigned s = 100; s <= 999; s++) {
        if (!bide__status_in(set, s))
            continue;
        if (s < 400 || s > 599) {
            bide__status_add(&other, s, s);
            lost = true;
            continue;
        }
        fprintf(out, "%s%u", comma, s);
        comma = ", ";
    }
    fprintf(out, "]\n");
    if (lost)
        bide__lost_other(t, "retry_on.status",
                         bide__status_text(t->arena, &other),
                         "codes are from 400 to 599", NULL);
    return *comma != '\0';
}

/* Failures of the connection are retried whether listed or not. */
static void tell_rest(struct bide__translation *t,
                      const struct bide__retry_set *set)
{
    bide_policy_conf plain = BIDE_POLICY_CONF_INIT;
    struct bide__retry_set usual;

    bide__retry_set_of(&usual, &plain, NULL);
    if (set->faults != usual.faults)
        bide__lost_other(t, "retry_on.errors",
                         bide__fault_text(t->arena, set->faults),
                         "failures of the connection are always retried", NULL);
    if (set->grpc != usual.grpc)
        bide__lost_other(t, "retry_on.grpc",
                         bide__grpc_text(t->arena, set->grpc),
                         "an HTTPRoute does not look at gRPC's status", NULL);
}

static void tell_waits(struct bide__translation *t)
{
    static const char shape[] =
        "each implementation has waits of its own, from "
        "backoff up";
    static const char hints[] = "what servers say about retrying is left to "
                                "the implementation";
    static const char *const waits[] = { "backoff.cap",
                                         "backoff.factor",
                                         "backoff.jitter",
                                         "backoff.spread",
                                         "backoff.floor",
                                         "backoff.immediate_first",
                                         NULL };
    static const char *const after[] = { "retry_after.mode", "retry_after.max",
                                         "retry_after.jitter",
                                         "retry_after.throttled_without_hint",
                                         NULL };

    for (int i = 0; waits[i]; i++)
        bide__lost(t, waits[i], shape);
    for (int i = 0; after[i]; i++)
        bide__lost(t, after[i], hints);
    bide__quietly(t, waits + 1);
    bide__quietly(t, after + 1);
}

static bool retry(struct bide__translation *t, FILE *out)
{
    const bide_policy_conf *c = t->conf;
    struct bide__retry_set set;

    bide__retry_set_of(&set, c, t);
    bide__kept(t, "attempts");
    if (c->attempts == 1)
        return false;
    fprintf(out, "    retry:\n");
    codes(t, &set, out);
    tell_rest(t, &set);
    tell_waits(t);
    fprintf(out, "      attempts: %lu\n", (unsigned long)c->attempts - 1);
    duration(t, out, "backoff.base", "      backoff", c->backoff.base_ns);
    return true;
}

static bool http_route(struct bide__translation *t,
                       const struct bide__export_names *names, FILE *out)
{
    head("gateway.networking.k8s.io/v1", "HTTPRoute", names, out);
    fprintf(out, "  parentRefs:\n  - name: gateway  # the one that it is for\n"
                 "  rules:\n  - backendRefs:\n    - name: ");
    bide__write_yaml_text(out, names->host);
    fprintf(out, "\n      port: 80\n");
    timeouts(t, out);
    return retry(t, out);
}

/* ===== XBackendTrafficPolicy ===== */

static void tell_budget(struct bide__translation *t, unsigned percent)
{
    static const char other[] = "its budget is a share of the requests of an "
                                "interval";
    static const char *const numbers[] = {
        "budget.capacity",       "budget.cost",          "budget.cost_timeout",
        "budget.cost_throttled", "budget.refund",        "budget.max_tokens",
        "budget.token_ratio",    "budget.min_in_flight", NULL
    };
    const bide_budget_conf *b = &t->conf->budget;

    bide__kept(t, "budget.ratio");
    if (fabs(b->ratio * 100 - percent) > 1e-9)
        bide__approximated(t, "budget.ratio",
                           "a share is whole percent, up to 100", "%u %%",
                           percent);
    for (int i = 0; numbers[i]; i++)
        bide__lost(t, numbers[i], other);
    bide__quietly(t, numbers);
    if (b->kind != BIDE_BUDGET_WINDOW)
        bide__approximated(t, "budget.kind", other, "%u %% of 10s", percent);
    if (b->deposit != BIDE_DEPOSIT_CALL)
        bide__approximated(t, "budget.deposit", "all requests count",
                           "requests of any outcome");
}

static void rate(struct bide__translation *t, FILE *out)
{
    double floor = t->conf->budget.floor_per_s;
    unsigned count = floor < 1 ? 1 : floor > 1e6 ? 1000000 : (unsigned)floor;

    if (t->conf->budget.kind != BIDE_BUDGET_WINDOW)
        count = 1;
    bide__kept(t, "budget.floor");
    if (fabs(floor - count) > 1e-9)
        bide__approximated(t, "budget.floor",
                           "a rate is a whole number, 1 or more", "%u/s",
                           count);
    fprintf(out, "    minRetryRate:\n      count: %u\n      interval: 1s\n",
            count);
}

static void traffic_policy(struct bide__translation *t,
                           const struct bide__export_names *names, FILE *out)
{
    const bide_budget_conf *b = &t->conf->budget;
    int64_t window_ns =
        b->kind == BIDE_BUDGET_WINDOW ? b->window_ns : 10 * BIDE_SECOND;
    double share = round(bide__budget_share(b) * 100);
    unsigned percent = share > 100 ? 100 : (unsigned)share;

    bide__kept(t, "budget.kind");
    if (b->kind == BIDE_BUDGET_OFF)
        return;
    fprintf(out, "---\n");
    head("gateway.networking.x-k8s.io/v1alpha1", "XBackendTrafficPolicy", names,
         out);
    fprintf(out, "  targetRefs:\n  - group: \"\"\n    kind: Service\n    "
                 "name: ");
    bide__write_yaml_text(out, names->host);
    fprintf(out, "\n  retryConstraint:\n    budget:\n      percent: %u\n",
            percent);
    tell_budget(t, percent);
    duration(t, out, "budget.window", "      interval",
             window_ns < BIDE_SECOND ? BIDE_SECOND : window_ns);
    if (window_ns < BIDE_SECOND)
        bide__approximated(t, "budget.window", "an interval is 1s or more",
                           "1s");
    rate(t, out);
}

void bide__export_gateway(struct bide__translation *t,
                          const struct bide__export_names *names, FILE *out)
{
    static const char no_breaker[] = "the Gateway API has no breaker";
    bool repeats;

    bide__kept(t, "breaker.kind");
    if (t->conf->breaker.kind != BIDE_BREAKER_OFF)
        bide__lost(t, "breaker.kind", no_breaker);
    bide__lost(t, "nested", "it does not see that a layer above retries too");
    if (t->conf->nested == BIDE_NESTED_RETRY)
        bide__kept(t, "nested");
    if (t->conf->hedge.max > 0)
        bide__lost(t, "hedge.max", "it does not hedge");
    repeats = http_route(t, names, out);
    if (!repeats) {
        bide__kept(t, "budget.kind");
        if (bide__tries_again(t->conf) &&
            t->conf->budget.kind != BIDE_BUDGET_OFF)
            bide__lost(t, "budget.kind", "there are no retries to limit");
        return;
    }
    traffic_policy(t, names, out);
    bide__caveat(t,
                 "the Gateway API repeats any request, a POST too; bide only "
                 "those that are idempotent, or carry a key");
    bide__caveat(t, "retry is in Gateway API 1.2 and later, "
                    "XBackendTrafficPolicy in the experimental channel of 1.3");
}
