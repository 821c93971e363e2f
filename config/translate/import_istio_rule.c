/* import_istio_rule.c: reads a DestinationRule into the policies for its host.
 *
 * Outlier detection becomes a breaker that opens after consecutive failures. A
 * rate of 100 % over at least as many calls adds nothing to that, and so means
 * "no rate". */
#include "config/translate/import_istio_rule.h"

#include <string.h>

#include "config/translate/import_istio.h"
#include "config/translate/translate.h"
#include "config/translate/translate_value.h"

typedef struct bide__node node;

/* The settings of a rule, before its host is known. */
struct rule {
    const char *host;
    bide_policy_conf conf;
    bool in_flight, budget, breaker;
    const node *detection;
    uint64_t errors, gateway;
    bool has_errors, has_gateway;
};

/* ===== connectionPool ===== */

static void read_max_requests(struct bide__import *im, void *ctx, node *key,
                              node *value)
{
    struct rule *r = ctx;
    uint64_t n;

    (void)key;
    if (!bide__import_count(im, value, 0, INT32_MAX, &n) || n == 0)
        return; /* 0 means "not set" */
    if (n > 1000000) {
        bide__import_warn(im, value,
                          "a limit is up to 1000000; over that there "
                          "is none");
        return;
    }
    r->in_flight = true;
    r->conf.limits.in_flight = (uint32_t)n;
}

/* A fixed number of retries at once, however many requests there are: an
 * in-flight budget with only its floor. */
static void read_max_retries(struct bide__import *im, void *ctx, node *key,
                             node *value)
{
    struct rule *r = ctx;
    uint64_t n;

    (void)key;
    if (!bide__import_count(im, value, 0, INT32_MAX, &n) || n == 0 || r->budget)
        return;
    r->budget = n <= 1000000; /* more means no limit */
    r->conf.budget.kind = BIDE_BUDGET_IN_FLIGHT;
    r->conf.budget.ratio = 0;
    r->conf.budget.min_in_flight = (uint32_t)n;
}

static void read_http_pool(struct bide__import *im, void *ctx, node *key,
                           node *value)
{
    static const char connections[] = "a policy does not keep connections";
    static const struct bide__field fields[] = {
        { "http2MaxRequests", read_max_requests, NULL },
        { "maxRetries", read_max_retries, NULL },
        { "http1MaxPendingRequests", NULL, connections },
        { "maxRequestsPerConnection", NULL, connections },
        { "idleTimeout", NULL, connections },
        { "h2UpgradePolicy", NULL, connections },
        { "useClientProtocol", NULL, connections },
        { "maxConcurrentStreams", NULL, connections },
        { NULL, NULL, NULL },
    };

    (void)key;
    bide__import_map(im, value, fields, ctx);
}

static void read_pool(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    static const struct bide__field fields[] = {
        { "http", read_http_pool, NULL },
        { "tcp", NULL, "a policy does not keep connections" },
        { NULL, NULL, NULL },
    };

    (void)key;
    bide__import_map(im, value, fields, ctx);
}

/* ===== retryBudget ===== */

static void read_percent(struct bide__import *im, void *ctx, node *key,
                         node *value)
{
    struct rule *r = ctx;
    double x;

    (void)key;
    if (!bide__import_number(im, value, &x))
        return;
    if (x > 100)
        bide__import_mistake(im, value, NULL, "percent is from 0 to 100");
    else
        r->conf.budget.ratio = bide__from_percent(x);
}

static void read_min_retries(struct bide__import *im, void *ctx, node *key,
                             node *value)
{
    struct rule *r = ctx;
    uint64_t n;

    (void)key;
    if (!bide__import_count(im, value, 0, UINT32_MAX, &n) || n == 0)
        return; /* 0 means the default */
    if (n > 1000000)
        bide__import_warn(im, value, "bide takes 1000000 for it");
    r->conf.budget.min_in_flight = (uint32_t)(n < 1000000 ? n : 1000000);
}

static void read_budget(struct bide__import *im, void *ctx, node *key,
                        node *value)
{
    static const struct bide__field fields[] = {
        { "percent", read_percent, NULL },
        { "minRetryConcurrency", read_min_retries, NULL },
        { NULL, NULL, NULL },
    };
    bide_budget_conf *b = &((struct rule *)ctx)->conf.budget;

    (void)key;
    ((struct rule *)ctx)->budget = true;
    b->kind = BIDE_BUDGET_IN_FLIGHT;
    b->ratio = 0.2;
    b->min_in_flight = 3;
    bide__import_map(im, value, fields, ctx);
}

/* ===== outlierDetection ===== */

static void read_errors(struct bide__import *im, void *ctx, node *key,
                        node *value)
{
    struct rule *r = ctx;

    if (bide__node_is(key, "consecutiveGatewayErrors"))
        r->has_gateway = bide__import_count(im, value, 0, 1000000, &r->gateway);
    else
        r->has_errors = bide__import_count(im, value, 0, 1000000, &r->errors);
}

static void read_times(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    bide_breaker_conf *b = &((struct rule *)ctx)->conf.breaker;
    int64_t ns;

    if (!bide__import_duration(im, value, &ns))
        return;
    if (bide__node_is(key, "interval"))
        b->window_ns =
            bide__import_clip(im, value, ns, 100 * BIDE_MILLISECOND, BIDE_HOUR);
    else
        b->open_ns =
            bide__import_clip(im, value, ns, BIDE_MILLISECOND, BIDE_HOUR);
}

static void read_max_percent(struct bide__import *im, void *ctx, node *key,
                             node *value)
{
    uint64_t n;

    (void)ctx;
    if (bide__import_count(im, value, 0, 100, &n) && n != 100)
        bide__import_warn(im, key,
                          "`maxEjectionPercent` is left out: a breaker "
                          "is for all of a host");
}

static void read_detection(struct bide__import *im, void *ctx, node *key,
                           node *value)
{
    static const char local[] = "a breaker counts all failures alike";
    static const struct bide__field fields[] = {
        { "consecutive5xxErrors", read_errors, NULL },
        { "consecutiveErrors", read_errors, NULL },
        { "consecutiveGatewayErrors", read_errors, NULL },
        { "interval", read_times, NULL },
        { "baseEjectionTime", read_times, NULL },
        { "maxEjectionPercent", read_max_percent, NULL },
        { "minHealthPercent", NULL, "a policy does not choose among hosts" },
        { "splitExternalLocalOriginErrors", NULL, local },
        { "consecutiveLocalOriginFailures", NULL, local },
        { NULL, NULL, NULL },
    };
    struct rule *r = ctx;

    r->detection = key;
    r->breaker = true;
    bide__import_map(im, value, fields, r);
}

static void settle_breaker(struct bide__import *im, struct rule *r)
{
    bide_breaker_conf *b = &r->conf.breaker;
    uint32_t errors = r->has_errors ? (uint32_t)r->errors : 5;

    if (r->has_gateway && r->gateway > 0)
        bide__import_warn(im, r->detection,
                          errors == 0 ? "consecutiveGatewayErrors became "
                                        "failures of any kind"
                                      : "consecutiveGatewayErrors is left out: "
                                        "consecutive5xxErrors counts as well");
    if (errors == 0)
        errors = r->has_gateway ? (uint32_t)r->gateway : 0;
    b->kind = errors > 0 ? BIDE_BREAKER_TIME : BIDE_BREAKER_OFF;
    b->consecutive = errors;
    b->failure_rate = 1;
    b->min_calls = errors > 20 ? errors : 20;
    b->open_jitter = 0;
    b->open_max_ns =
        b->open_ns > 5 * BIDE_MINUTE ? b->open_ns : 5 * BIDE_MINUTE;
}

/* ===== the rule and its host ===== */

static void read_policy(struct bide__import *im, void *ctx, node *key,
                        node *value)
{
    static const char other[] = "a policy has no such thing";
    static const struct bide__field fields[] = {
        { "connectionPool", read_pool, NULL },
        { "retryBudget", read_budget, NULL },
        { "outlierDetection", read_detection, NULL },
        { "loadBalancer", NULL, "a policy does not choose among hosts" },
        { "portLevelSettings", NULL, "a policy is for all of a host" },
        { "tls", NULL, other },
        { "tunnel", NULL, other },
        { "proxyProtocol", NULL, other },
        { NULL, NULL, NULL },
    };

    (void)key;
    bide__import_map(im, value, fields, ctx);
}

static void read_rule_host(struct bide__import *im, void *ctx, node *key,
                           node *value)
{
    (void)key;
    ((struct rule *)ctx)->host = bide__import_text(im, value);
}

static void apply(struct bide__named_policy *p, const struct rule *r)
{
    if (r->in_flight)
        p->conf.limits = r->conf.limits;
    if (r->budget && bide__tries_again(&p->conf))
        p->conf.budget = r->conf.budget;
    if (r->budget)
        bide__import_comment(p, "budget.kind", NULL);
    if (r->breaker && r->conf.breaker.kind != BIDE_BREAKER_OFF) {
        p->conf.breaker = r->conf.breaker;
        bide__import_comment(p, "breaker.failure_rate", "that is, no rate");
    }
}

static void apply_all(struct bide__import *im, const struct bide__istio *is,
                      const struct rule *r, const node *where)
{
    struct bide__named_policy *p;
    bool any = false;

    for (struct bide__istio_target *t = is->targets; t; t = t->next)
        if (r->host && strcmp(t->host, r->host) == 0) {
            apply(&im->policies[t->policy], r);
            any = true;
        }
    if (any || (p = bide__import_add(im, where, is->name)) == NULL)
        return;
    bide__istio_defaults(p);
    apply(p, r);
}

void bide__istio_destination(struct bide__import *im, struct bide__istio *is,
                             const node *spec)
{
    static const struct bide__field fields[] = {
        { "host", read_rule_host, NULL },
        { "trafficPolicy", read_policy, NULL },
        { "subsets", NULL, "a policy is for all of a host" },
        { "exportTo", NULL, "a policy does not say where it applies" },
        { "workloadSelector", NULL, "a policy does not say where it applies" },
        { NULL, NULL, NULL },
    };
    struct rule r = { .conf = BIDE_POLICY_CONF_INIT };

    bide__import_map(im, spec, fields, &r);
    if (r.breaker)
        settle_breaker(im, &r);
    if (spec->kind == BIDE__MAP && !im->no_memory)
        apply_all(im, is, &r, spec);
}
