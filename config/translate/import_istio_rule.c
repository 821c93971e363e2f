/* import_istio_rule.c: reads a DestinationRule into the policies for its host.
 *
 * Outlier detection takes single servers out, and so becomes the ejection of an
 * upstream. It is no breaker, which stops calling a whole service. */
#include "config/translate/import_istio_rule.h"

#include <string.h>

#include "config/translate/import_istio.h"
#include "config/translate/import_proxy.h"
#include "config/translate/translate.h"
#include "config/translate/translate_value.h"

typedef struct bide__node node;

/* The settings of a rule, before its host is known. */
struct rule {
    const char *host;
    bide_policy_conf conf;
    bool in_flight, budget;
    const node *detection; /* its key, or NULL */
    uint64_t errors, gateway;
    bool has_errors, has_gateway;
    int64_t open_ns;
    uint64_t max_percent;
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

static void read_open(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    int64_t ns;

    (void)key;
    if (bide__import_duration(im, value, &ns))
        ((struct rule *)ctx)->open_ns =
            bide__import_clip(im, value, ns, BIDE_MILLISECOND, BIDE_HOUR);
}

static void read_max_percent(struct bide__import *im, void *ctx, node *key,
                             node *value)
{
    (void)key;
    bide__import_count(im, value, 0, 100, &((struct rule *)ctx)->max_percent);
}

static void read_detection(struct bide__import *im, void *ctx, node *key,
                           node *value)
{
    static const char local[] = "an upstream counts all failures alike";
    static const struct bide__field fields[] = {
        { "consecutive5xxErrors", read_errors, NULL },
        { "consecutiveErrors", read_errors, NULL },
        { "consecutiveGatewayErrors", read_errors, NULL },
        { "interval", NULL, "an upstream looks at each response" },
        { "baseEjectionTime", read_open, NULL },
        { "maxEjectionPercent", read_max_percent, NULL },
        { "minHealthPercent", NULL, "`max_ejected` says how many may be out" },
        { "splitExternalLocalOriginErrors", NULL, local },
        { "consecutiveLocalOriginFailures", NULL, local },
        { NULL, NULL, NULL },
    };
    struct rule *r = ctx;

    r->detection = key;
    bide__import_map(im, value, fields, r);
}

/* How many failures in a row eject a server. */
static uint32_t failures(struct bide__import *im, const struct rule *r)
{
    uint64_t errors = r->has_errors ? r->errors : 5;

    if (r->has_gateway && r->gateway > 0)
        bide__import_warn(im, r->detection,
                          errors == 0 ? "consecutiveGatewayErrors became "
                                        "failures of any kind"
                                      : "consecutiveGatewayErrors is left out: "
                                        "consecutive5xxErrors counts as well");
    if (errors == 0 && r->has_gateway)
        errors = r->gateway;
    return (uint32_t)errors;
}

static void eject(struct bide__import *im, const struct rule *r)
{
    struct bide__import_upstream *u = bide__import_upstream(im, r->host);

    if (!r->detection || !u)
        return;
    u->consecutive = failures(im, r);
    u->open_ns = r->open_ns;
    u->max_ejected = (double)r->max_percent / 100;
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
}

/* A host that no VirtualService leads to: all of its requests. */
static void add_host(struct bide__import *im, const struct bide__istio *is,
                     const struct rule *r, const node *where)
{
    struct bide__named_policy *p = bide__import_add(im, where, is->name);
    struct bide__import_upstream *u =
        p ? bide__import_upstream(im, r->host) : NULL;
    struct bide__import_route *route =
        u ? bide__import_route(im, u, im->n - 1) : NULL;

    if (!route)
        return;
    bide__istio_defaults(p);
    apply(p, r);
    bide__import_endpoint(im, where, u, "http", r->host, 0);
    if (bide__import_host_fits(r->host))
        route->host = r->host;
}

static void apply_all(struct bide__import *im, const struct bide__istio *is,
                      const struct rule *r, const node *where)
{
    bool any = false;

    for (struct bide__istio_target *t = is->targets; t; t = t->next)
        if (strcmp(t->host, r->host) == 0) {
            apply(&im->policies[t->policy], r);
            any = true;
        }
    if (!any)
        add_host(im, is, r, where);
    eject(im, r);
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
    struct rule r = { .conf = BIDE_POLICY_CONF_INIT,
                      .open_ns = 30 * BIDE_SECOND,
                      .max_percent = 10 };

    bide__import_map(im, spec, fields, &r);
    if (spec->kind != BIDE__MAP || im->no_memory)
        return;
    if (r.host && *r.host)
        apply_all(im, is, &r, spec);
    else
        bide__import_warn(im, spec,
                          "without a `host` this rule applies to nothing, and "
                          "is left out");
}
