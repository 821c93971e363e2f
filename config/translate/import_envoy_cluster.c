/* import_envoy_cluster.c: a cluster of Envoy: servers become an upstream,
 * outlier detection its ejection, and thresholds limits and budget of the
 * policies that lead there. */
#include <string.h>

#include "config/translate/import_envoy.h"
#include "config/translate/import_proxy.h"
#include "config/translate/translate.h"
#include "config/translate/translate_value.h"

typedef struct bide__node node;

/* A cluster while it is being read. */
struct cluster {
    const char *name;
    bide_budget_conf budget;
    uint32_t in_flight;
    uint64_t consecutive, enforced, percent, rate, rate_enforced;
    int64_t open_ns;
    bool ejects, tls;
    const node *assignment;
};

/* ===== circuit_breakers ===== */

static void read_max_requests(struct bide__import *im, void *ctx, node *key,
                              node *value)
{
    struct cluster *c = ctx;
    uint64_t n;

    (void)key;
    if (bide__import_count(im, value, 0, UINT32_MAX, &n))
        c->in_flight = n > 1000000 ? BIDE_UNLIMITED : n ? (uint32_t)n : 1;
}

/* So many retries at once, however many requests there are. */
static void read_max_retries(struct bide__import *im, void *ctx, node *key,
                             node *value)
{
    struct cluster *c = ctx;
    uint64_t n;

    (void)key;
    if (!bide__import_count(im, value, 0, UINT32_MAX, &n))
        return;
    c->budget.kind = n > 1000000 ? BIDE_BUDGET_OFF : BIDE_BUDGET_IN_FLIGHT;
    c->budget.ratio = 0;
    c->budget.min_in_flight = n > 1000000 ? 3 : (uint32_t)n;
}

static void read_percent(struct bide__import *im, void *ctx, node *key,
                         node *value)
{
    const node *number = value;
    double x;

    (void)key;
    if (value->kind == BIDE__MAP)
        number = bide__map_get(value, "value", NULL);
    if (!number || !bide__import_number(im, number, &x))
        return;
    if (x < 0 || x > 100)
        bide__import_mistake(im, number, NULL, "a percentage is from 0 to 100");
    else
        ((struct cluster *)ctx)->budget.ratio = bide__from_percent(x);
}

static void read_min_retries(struct bide__import *im, void *ctx, node *key,
                             node *value)
{
    uint64_t n;

    (void)key;
    if (bide__import_count(im, value, 0, UINT32_MAX, &n))
        ((struct cluster *)ctx)->budget.min_in_flight =
            n > 1000000 ? 1000000 : (uint32_t)n;
}

static void read_budget(struct bide__import *im, void *ctx, node *key,
                        node *value)
{
    static const struct bide__field fields[] = {
        { "budget_percent", read_percent, NULL },
        { "min_retry_concurrency", read_min_retries, NULL },
        { NULL, NULL, NULL },
    };
    struct cluster *c = ctx;

    (void)key;
    c->budget.kind = BIDE_BUDGET_IN_FLIGHT;
    c->budget.ratio = 0.2;
    c->budget.min_in_flight = 3;
    bide__import_map(im, value, fields, c);
}

static void read_breakers(struct bide__import *im, void *ctx, node *key,
                          node *value)
{
    static const char pool[] = "`pool` of the upstream has such limits";
    static const struct bide__field fields[] = {
        { "max_requests", read_max_requests, NULL },
        { "max_retries", read_max_retries, NULL },
        { "retry_budget", read_budget, NULL },
        { "priority", NULL, NULL },
        { "track_remaining", NULL, NULL },
        { "max_connections", NULL, pool },
        { "max_pending_requests", NULL, pool },
        { "max_connection_pools", NULL, pool },
        { NULL, NULL, NULL },
    };
    const node *list = value->kind == BIDE__MAP
                           ? bide__map_get(value, "thresholds", NULL)
                           : NULL;

    (void)key;
    if (!list || bide__node_empty(list) || !bide__import_list(im, list))
        return;
    if (list->n > 1)
        bide__import_warn(im, list, "only the first of the thresholds is read");
    if (list->n > 0)
        bide__import_map(im, list->items[0], fields, ctx);
}

/* ===== outlier_detection ===== */

static void read_outlier_count(struct bide__import *im, void *ctx, node *key,
                               node *value)
{
    struct cluster *c = ctx;

    if (bide__node_is(key, "consecutive_5xx"))
        bide__import_count(im, value, 0, 1000000, &c->consecutive);
    else if (bide__node_is(key, "enforcing_consecutive_5xx"))
        bide__import_count(im, value, 0, 100, &c->enforced);
    else if (bide__node_is(key, "max_ejection_percent"))
        bide__import_count(im, value, 0, 100, &c->percent);
    else if (bide__node_is(key, "failure_percentage_threshold"))
        bide__import_count(im, value, 0, 100, &c->rate);
    else
        bide__import_count(im, value, 0, 100, &c->rate_enforced);
}

static void read_open(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    int64_t ns;

    (void)key;
    if (bide__import_seconds(im, value, &ns))
        ((struct cluster *)ctx)->open_ns =
            bide__import_clip(im, value, ns, BIDE_MILLISECOND, BIDE_HOUR);
}

static void read_outliers(struct bide__import *im, void *ctx, node *key,
                          node *value)
{
    static const char other[] =
        "an upstream ejects for failures in a row, or a "
        "share of them, over 10 s and 20 attempts";
    static const struct bide__field fields[] = {
        { "consecutive_5xx", read_outlier_count, NULL },
        { "enforcing_consecutive_5xx", read_outlier_count, NULL },
        { "max_ejection_percent", read_outlier_count, NULL },
        { "failure_percentage_threshold", read_outlier_count, NULL },
        { "enforcing_failure_percentage", read_outlier_count, NULL },
        { "base_ejection_time", read_open, NULL },
        { "interval", NULL, NULL }, /* of looking, not of counting */
        { "failure_percentage_request_volume", NULL, other },
        { "failure_percentage_minimum_hosts", NULL, other },
        { "enforcing_failure_percentage_local_origin", NULL, NULL },
        { "enforcing_success_rate", NULL, NULL },
        { "success_rate_minimum_hosts", NULL, other },
        { "success_rate_request_volume", NULL, other },
        { "success_rate_stdev_factor", NULL, other },
        { "consecutive_gateway_failure", NULL, other },
        { "enforcing_consecutive_gateway_failure", NULL, NULL },
        { "split_external_local_origin_errors", NULL, other },
        { "consecutive_local_origin_failure", NULL, other },
        { "max_ejection_time", NULL, "each ejection is as long as the last" },
        { "max_ejection_time_jitter", NULL, "ejections are not spread" },
        { NULL, NULL, NULL },
    };

    (void)key;
    ((struct cluster *)ctx)->ejects = true;
    bide__import_map(im, value, fields, ctx);
}

/* ===== servers ===== */

static const node *below(const node *map, const char *key)
{
    const node *found =
        map && map->kind == BIDE__MAP ? bide__map_get(map, key, NULL) : NULL;

    return bide__node_empty(found) ? NULL : found;
}

static void read_server(struct bide__import *im, const struct cluster *c,
                        struct bide__import_upstream *u, const node *server)
{
    const node *socket =
        below(below(below(server, "endpoint"), "address"), "socket_address");
    const node *address = below(socket, "address");
    const node *port = below(socket, "port_value");
    const char *host = address ? bide__import_text(im, address) : NULL;
    uint64_t n = 0;

    if (host && (!port || bide__import_count(im, port, 0, 65535, &n)))
        bide__import_endpoint(im, address, u, c->tls ? "https" : "http", host,
                              (unsigned)n);
}

static void read_servers(struct bide__import *im, const struct cluster *c,
                         struct bide__import_upstream *u)
{
    const node *groups = below(c->assignment, "endpoints");

    for (size_t i = 0; groups && groups->kind == BIDE__LIST && i < groups->n;
         i++) {
        const node *servers = below(groups->items[i], "lb_endpoints");

        for (size_t k = 0;
             servers && servers->kind == BIDE__LIST && k < servers->n; k++)
            read_server(im, c, u, servers->items[k]);
    }
}

/* ===== the cluster ===== */

static void read_name(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    (void)key;
    ((struct cluster *)ctx)->name = bide__import_text(im, value);
}

static void read_assignment(struct bide__import *im, void *ctx, node *key,
                            node *value)
{
    (void)im;
    (void)key;
    ((struct cluster *)ctx)->assignment = value;
}

static void read_socket(struct bide__import *im, void *ctx, node *key,
                        node *value)
{
    (void)value;
    ((struct cluster *)ctx)->tls = true;
    bide__import_warn(im, key,
                      "`transport_socket` became https://; see `tls` "
                      "of the upstream for the rest");
}

static void apply(struct bide__named_policy *p, const struct cluster *c)
{
    p->conf.limits.in_flight = c->in_flight;
    if (bide__tries_again(&p->conf))
        p->conf.budget = c->budget;
}

static void apply_all(struct bide__import *im, const struct bide__envoy *e,
                      const struct cluster *c, const node *where)
{
    struct bide__named_policy *p;
    bool any = false;

    for (const struct bide__envoy_target *t = e->targets; t; t = t->next)
        if (strcmp(t->cluster, c->name) == 0 || !*t->cluster) {
            apply(&im->policies[t->policy], c);
            any = true;
        }
    if (any || (p = bide__import_add(im, where, c->name)) == NULL)
        return;
    bide__envoy_defaults(p);
    apply(p, c);
}

static void settle(struct bide__import *im, const struct cluster *c)
{
    struct bide__import_upstream *u = bide__import_upstream(im, c->name);

    if (!u)
        return;
    read_servers(im, c, u);
    if (!c->ejects)
        return;
    u->consecutive = c->enforced ? (uint32_t)c->consecutive : 0;
    u->failure_rate =
        c->rate_enforced && c->rate > 0 ? (double)c->rate / 100 : 1;
    u->open_ns = c->open_ns;
    u->max_ejected = (double)c->percent / 100;
}

void bide__envoy_cluster(struct bide__import *im, struct bide__envoy *e,
                         const node *cluster)
{
    static const char balancing[] = "an upstream has a balancing of its own";
    static const struct bide__field fields[] = {
        { "name", read_name, NULL },
        { "circuit_breakers", read_breakers, NULL },
        { "outlier_detection", read_outliers, NULL },
        { "load_assignment", read_assignment, NULL },
        { "transport_socket", read_socket, NULL },
        { "type", NULL, NULL },
        { "connect_timeout", NULL, "`pool` of the upstream has one" },
        { "lb_policy", NULL, balancing },
        { "dns_lookup_family", NULL, NULL },
        { "health_checks", NULL, "`health` of the upstream does it" },
        { "typed_extension_protocol_options", NULL,
          "an upstream speaks HTTP/1.1" },
        { "http2_protocol_options", NULL, "an upstream speaks HTTP/1.1" },
        { NULL, NULL, NULL },
    };
    struct cluster c = { .name = "default",
                         .budget =
                             ((bide_policy_conf)BIDE_POLICY_CONF_INIT).budget,
                         .in_flight = 1024,
                         .consecutive = 5,
                         .enforced = 100,
                         .percent = 10,
                         .rate = 85,
                         .open_ns = 30 * BIDE_SECOND };

    c.budget.kind = BIDE_BUDGET_IN_FLIGHT;
    c.budget.ratio = 0;
    c.budget.min_in_flight = 3;
    bide__import_map(im, cluster, fields, &c);
    if (cluster->kind != BIDE__MAP || im->no_memory || !c.name || !*c.name)
        return;
    apply_all(im, e, &c, cluster);
    settle(im, &c);
}
