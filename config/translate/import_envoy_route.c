/* import_envoy_route.c: virtual hosts, their routes and retry policies. */
#include <string.h>

#include "base/arena.h"
#include "config/translate/import_envoy.h"
#include "config/translate/import_istio.h"
#include "config/translate/import_proxy.h"
#include "config/translate/translate.h"

typedef struct bide__node node;

/* A route while it is being read. */
struct route {
    struct bide__named_policy p;
    const char *name, *cluster, *path, *exact; /* each or NULL */
    const node *retry, *hedge; /* of the virtual host; or NULL */
    int64_t try_ns;            /* 0: none */
    bool hedges, unfit;
    const node *codes;
    const node *domains;
};

void bide__envoy_defaults(struct bide__named_policy *p)
{
    bide_policy_conf *c = &p->conf;

    c->attempts = 1;
    c->attempt_timeout_ns = BIDE_FOREVER;
    c->deadline_ns = 15 * BIDE_SECOND;
    c->backoff.base_ns = 25 * BIDE_MILLISECOND;
    c->backoff.cap_ns = 250 * BIDE_MILLISECOND;
    c->budget.kind = BIDE_BUDGET_IN_FLIGHT; /* max_retries: 3 */
    c->budget.ratio = 0;
    c->budget.min_in_flight = 3;
    c->breaker.kind = BIDE_BREAKER_OFF;
    c->unreachable.wait_ns = 0;
    bide__import_comment(p, "attempt_timeout", "there is no per_try_timeout");
    bide__import_comment(p, "deadline", "Envoy's default timeout");
    bide__import_comment(p, "unreachable.wait", "Envoy does not wait");
    bide__import_comment(p, "breaker.kind",
                         "Envoy ejects servers, never a whole cluster");
}

/* ===== retry_policy ===== */

static void read_retry_on(struct bide__import *im, void *ctx, node *key,
                          node *value)
{
    struct route *r = ctx;
    const char *text = bide__import_text(im, value);

    (void)key;
    if (text && *text)
        bide__mesh_conditions(im, &r->p.retried, value, text);
}

static void read_count(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    struct route *r = ctx;
    uint64_t n;

    (void)key;
    if (bide__import_count(im, value, 0, INT32_MAX, &n))
        r->p.conf.attempts = (uint32_t)n + 1;
}

static void read_try_timeout(struct bide__import *im, void *ctx, node *key,
                             node *value)
{
    (void)key;
    bide__import_seconds(im, value, &((struct route *)ctx)->try_ns);
}

static void read_interval(struct bide__import *im, void *ctx, node *key,
                          node *value)
{
    bide_backoff *b = &((struct route *)ctx)->p.conf.backoff;
    int64_t ns;

    if (!bide__import_seconds(im, value, &ns))
        return;
    ns = bide__import_clip(im, value, ns, BIDE_MILLISECOND, BIDE_FOREVER / 100);
    if (bide__node_is(key, "base_interval")) {
        b->base_ns = ns;
        b->cap_ns = 10 * ns;
    } else {
        b->cap_ns = ns > b->base_ns ? ns : b->base_ns;
    }
}

/* The base first: without a cap, that is ten times the base. */
static void read_back_off(struct bide__import *im, void *ctx, node *key,
                          node *value)
{
    static const struct bide__field base[] = {
        { "base_interval", read_interval, NULL },
        { "max_interval", NULL, NULL },
        { NULL, NULL, NULL },
    };
    static const struct bide__field cap[] = {
        { "base_interval", NULL, NULL },
        { "max_interval", read_interval, NULL },
        { NULL, NULL, NULL },
    };

    (void)key;
    bide__import_map(im, value, base, ctx);
    if (value->kind == BIDE__MAP)
        bide__import_map(im, value, cap, ctx);
}

static void read_hint_max(struct bide__import *im, void *ctx, node *key,
                          node *value)
{
    (void)key;
    bide__import_seconds(im, value,
                         &((struct route *)ctx)->p.conf.retry_after.max_ns);
}

static void read_hints(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    static const struct bide__field fields[] = {
        { "max_interval", read_hint_max, NULL },
        { "reset_headers", NULL, NULL }, /* bide knows them */
        { NULL, NULL, NULL },
    };

    (void)key;
    ((struct route *)ctx)->p.conf.retry_after.jitter = 0.5;
    bide__import_map(im, value, fields, ctx);
}

static void read_codes(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    (void)key;
    if (bide__import_list(im, value))
        ((struct route *)ctx)->codes = value;
}

static void add_codes(struct bide__import *im, struct route *r)
{
    uint64_t n;

    for (size_t i = 0; r->codes && i < r->codes->n; i++)
        if (bide__import_count(im, r->codes->items[i], 100, 999, &n))
            bide__status_add(&r->p.retried, (unsigned)n, (unsigned)n);
}

static void read_retry(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    static const char hosts[] = "a policy does not choose among hosts";
    static const struct bide__field fields[] = {
        { "retry_on", read_retry_on, NULL },
        { "num_retries", read_count, NULL },
        { "per_try_timeout", read_try_timeout, NULL },
        { "retry_back_off", read_back_off, NULL },
        { "rate_limited_retry_back_off", read_hints, NULL },
        { "retriable_status_codes", read_codes, NULL },
        { "retriable_request_headers", NULL,
          "bide repeats only what is idempotent, or carries a key" },
        { "retriable_headers", NULL, "a rule can say it: `rules`" },
        { "per_try_idle_timeout", NULL, "an attempt has one timeout" },
        { "retry_host_predicate", NULL, hosts },
        { "retry_priority", NULL, hosts },
        { "host_selection_retry_max_attempts", NULL, hosts },
        { "retry_options_predicates", NULL, hosts },
        { NULL, NULL, NULL },
    };
    struct route *r = ctx;

    (void)key;
    r->p.conf.attempts = 2;
    memset(&r->p.retried, 0, sizeof r->p.retried);
    bide__import_map(im, value, fields, r);
    add_codes(im, r);
}

/* ===== the action ===== */

static void read_timeout(struct bide__import *im, void *ctx, node *key,
                         node *value)
{
    struct route *r = ctx;
    int64_t ns;

    (void)key;
    if (!bide__import_seconds(im, value, &ns))
        return;
    r->p.conf.deadline_ns = ns ? ns : BIDE_FOREVER; /* 0 turns it off */
    bide__import_comment(&r->p, "deadline", NULL);
}

static void read_cluster(struct bide__import *im, void *ctx, node *key,
                         node *value)
{
    (void)key;
    ((struct route *)ctx)->cluster = bide__import_text(im, value);
}

static void read_on_timeout(struct bide__import *im, void *ctx, node *key,
                            node *value)
{
    (void)im;
    (void)key;
    ((struct route *)ctx)->hedges = bide__node_is(value, "true");
}

static void read_hedging(struct bide__import *im, void *ctx, node *key,
                         node *value)
{
    static const struct bide__field fields[] = {
        { "hedge_on_per_try_timeout", read_on_timeout, NULL },
        { "initial_requests", NULL, NULL }, /* Envoy does not do it yet */
        { "additional_request_chance", NULL, NULL },
        { NULL, NULL, NULL },
    };

    (void)key;
    bide__import_map(im, value, fields, ctx);
}

static void read_action(struct bide__import *im, void *ctx, node *key,
                        node *value)
{
    static const char routing[] = "a policy does not change requests";
    static const struct bide__field fields[] = {
        { "cluster", read_cluster, NULL },
        { "timeout", read_timeout, NULL },
        { "retry_policy", read_retry, NULL },
        { "hedge_policy", read_hedging, NULL },
        { "weighted_clusters", NULL, "a route has one upstream" },
        { "cluster_header", NULL, "a route has one upstream" },
        { "prefix_rewrite", NULL, routing },
        { "regex_rewrite", NULL, routing },
        { "host_rewrite_literal", NULL, routing },
        { "auto_host_rewrite", NULL, routing },
        { "idle_timeout", NULL, "`timeouts` of the sidecar has one for all" },
        { "max_stream_duration", NULL,
          "`deadline` says how long a call takes" },
        { NULL, NULL, NULL },
    };

    (void)key;
    bide__import_map(im, value, fields, ctx);
}

/* When a try times out, the next one is sent, and the first continues. */
static void settle(struct bide__import *im, struct route *r)
{
    bide_policy_conf *c = &r->p.conf;
    static const struct bide__retry_set none = { { 0 }, 0, 0 };

    if (c->attempts > 1 && memcmp(&r->p.retried, &none, sizeof none) == 0)
        c->attempts = 1; /* no condition */
    if (r->hedges && r->try_ns > 0 && c->attempts > 1) {
        c->hedge.max = c->attempts - 1 < 4 ? c->attempts - 1 : 4;
        c->hedge.after_ns = r->try_ns;
        c->hedge.extra_load = c->hedge.max;
        c->attempts = 1;
    } else if (r->try_ns > 0 && c->attempts > 1) {
        c->attempt_timeout_ns =
            r->try_ns < BIDE_MILLISECOND ? BIDE_MILLISECOND : r->try_ns;
        bide__import_comment(&r->p, "attempt_timeout", NULL);
    }
    if (!bide__tries_again(c))
        r->p.retried = im->usual;
}

static void begin(struct route *r)
{
    const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;

    r->p.conf = defaults;
    r->p.has_retry_on = true;
    bide__envoy_defaults(&r->p);
}

/* Adds its policy, and remembers what cluster it is for. */
static void add(struct bide__import *im, struct bide__envoy *e,
                const struct route *r, const node *where)
{
    const char *name = r->name && *r->name ? r->name
                       : r->cluster        ? r->cluster
                                           : "default";
    struct bide__named_policy *p =
        bide__import_add(im, where, *name ? name : "default");
    struct bide__envoy_target *t =
        p ? bide__arena_alloc(im->arena, sizeof *t) : NULL;

    if (!t) {
        im->no_memory = im->no_memory || p;
        return;
    }
    name = p->name;
    *p = r->p;
    p->name = name;
    *t = (struct bide__envoy_target){ r->cluster ? r->cluster : "", im->n - 1,
                                      e->targets };
    e->targets = t;
}

void bide__envoy_action(struct bide__import *im, struct bide__envoy *e,
                        const node *action)
{
    struct route r = { .name = NULL };

    begin(&r);
    read_action(im, &r, NULL, (node *)(uintptr_t)action);
    settle(im, &r);
    add(im, e, &r, action);
}

/* ===== routes ===== */

static void read_path(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    struct route *r = ctx;
    const char *text = bide__import_text(im, value);

    r->unfit = r->unfit || !text || !bide__import_path_fits(text);
    if (bide__node_is(key, "prefix"))
        r->path = text;
    else
        r->exact = text;
}

static void read_unfit(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    (void)value;
    ((struct route *)ctx)->unfit = true;
    bide__import_warn(im, key,
                      "this route has a policy, but no place in `proxy:`: the "
                      "sidecar cannot match this");
}

static void read_match(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    static const struct bide__field fields[] = {
        { "prefix", read_path, NULL },
        { "path", read_path, NULL },
        { "path_separated_prefix", read_unfit, NULL },
        { "safe_regex", read_unfit, NULL },
        { "connect_matcher", read_unfit, NULL },
        { "headers", read_unfit, NULL },
        { "query_parameters", read_unfit, NULL },
        { "grpc", read_unfit, NULL },
        { "case_sensitive", read_unfit, NULL },
        { "runtime_fraction", read_unfit, NULL },
        { NULL, NULL, NULL },
    };

    (void)key;
    bide__import_map(im, value, fields, ctx);
}

static void read_name(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    (void)key;
    ((struct route *)ctx)->name = bide__import_text(im, value);
}

/* One for each domain that the sidecar can match; `*` is any. */
static void place(struct bide__import *im, const struct route *r)
{
    struct bide__import_upstream *u;
    size_t n = r->domains && r->domains->n > 0 ? r->domains->n : 1;

    if (r->unfit || !r->cluster || !*r->cluster)
        return;
    u = bide__import_upstream(im, r->cluster);
    for (size_t i = 0; u && i < n && i < 16 && !im->no_memory; i++) {
        const char *host = r->domains && r->domains->n > 0
                               ? bide__import_text(im, r->domains->items[i])
                               : NULL;
        struct bide__import_route *to = bide__import_route(im, u, im->n - 1);

        if (!to)
            return;
        to->host = host && bide__import_host_fits(host) ? host : NULL;
        to->path = r->path;
        to->exact = r->exact;
    }
}

static void read_route(struct bide__import *im, struct bide__envoy *e,
                       const struct route *like, node *value)
{
    static const char answers[] = "it goes to no server";
    static const char other[] = "a policy has no such thing";
    static const struct bide__field fields[] = {
        { "name", read_name, NULL },
        { "match", read_match, NULL },
        { "route", read_action, NULL },
        { "redirect", NULL, answers },
        { "direct_response", NULL, answers },
        { "decorator", NULL, NULL },
        { "metadata", NULL, NULL },
        { "typed_per_filter_config", NULL, other },
        { "request_headers_to_add", NULL, other },
        { "response_headers_to_add", NULL, other },
        { NULL, NULL, NULL },
    };
    struct route r = *like;

    if (r.retry)
        read_retry(im, &r, NULL, (node *)(uintptr_t)r.retry);
    if (r.hedge)
        read_hedging(im, &r, NULL, (node *)(uintptr_t)r.hedge);
    bide__import_map(im, value, fields, &r);
    if (value->kind != BIDE__MAP || !bide__map_get(value, "route", NULL))
        return;
    settle(im, &r);
    add(im, e, &r, value);
    if (!im->no_memory && !im->too_many && im->n > 0)
        place(im, &r);
}

void bide__envoy_host(struct bide__import *im, struct bide__envoy *e,
                      const node *host)
{
    struct route like = { .name = NULL };
    const node *routes;

    if (host->kind != BIDE__MAP) {
        bide__import_refuse(im, host, "a map");
        return;
    }
    begin(&like);
    like.retry = bide__map_get(host, "retry_policy", NULL);
    like.hedge = bide__map_get(host, "hedge_policy", NULL);
    like.domains = bide__map_get(host, "domains", NULL);
    if (like.domains && like.domains->kind != BIDE__LIST)
        like.domains = NULL;
    routes = bide__map_get(host, "routes", NULL);
    if (bide__node_empty(routes) || !bide__import_list(im, routes))
        return;
    for (size_t i = 0; i < routes->n && !im->no_memory && !im->too_many; i++)
        read_route(im, e, &like, routes->items[i]);
}
