/* import_istio_service.c: reads a VirtualService, route by route. */
#include <string.h>

#include "base/arena.h"
#include "config/translate/import_istio_match.h"

typedef struct bide__node node;

/* One route while it is being read. */
struct route {
    struct bide__istio *is;
    struct bide__named_policy p;
    const char *name;                   /* or NULL */
    struct bide__istio_target *targets; /* without their policy so far */
    const node *match;                  /* or NULL */
    unsigned port;                      /* of the destination being read */
};

static void read_name(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    (void)key;
    ((struct route *)ctx)->name = bide__import_text(im, value);
}

static void read_timeout(struct bide__import *im, void *ctx, node *key,
                         node *value)
{
    struct route *r = ctx;
    int64_t ns;

    (void)key;
    if (!bide__import_duration(im, value, &ns))
        return;
    r->p.conf.deadline_ns = ns ? ns : BIDE_FOREVER; /* 0 turns it off */
}

static void read_retries(struct bide__import *im, void *ctx, node *key,
                         node *value)
{
    bide__istio_retries(im, &((struct route *)ctx)->p, key, value);
}

/* ===== targets of a route ===== */

static void read_host(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    struct route *r = ctx;
    struct bide__istio_target *target =
        bide__arena_alloc(im->arena, sizeof *target);

    (void)key;
    if (!target) {
        im->no_memory = true;
        return;
    }
    target->host = bide__import_text(im, value);
    target->port = r->port;
    target->where = value;
    target->next = r->targets;
    if (target->host)
        r->targets = target;
}

static void read_number(struct bide__import *im, void *ctx, node *key,
                        node *value)
{
    uint64_t n;

    (void)key;
    if (bide__import_count(im, value, 1, 65535, &n))
        ((struct route *)ctx)->port = (unsigned)n;
}

static void read_port(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    static const struct bide__field fields[] = {
        { "number", read_number, NULL },
        { NULL, NULL, NULL },
    };

    (void)key;
    bide__import_map(im, value, fields, ctx);
}

/* The port first: it belongs to the host. */
static void read_destination(struct bide__import *im, void *ctx, node *key,
                             node *value)
{
    static const struct bide__field fields[] = {
        { "host", read_host, NULL },
        { "port", NULL, NULL },
        { "subset", NULL, "a policy is for all of a host" },
        { NULL, NULL, NULL },
    };
    node *port_key = NULL, *port = NULL;

    (void)key;
    ((struct route *)ctx)->port = 0;
    if (value->kind == BIDE__MAP)
        port = bide__map_get(value, "port", &port_key);
    if (!bide__node_empty(port))
        read_port(im, ctx, port_key, port);
    bide__import_map(im, value, fields, ctx);
}

static void read_destinations(struct bide__import *im, void *ctx, node *key,
                              node *value)
{
    static const struct bide__field fields[] = {
        { "destination", read_destination, NULL },
        { "weight", NULL, "a policy does not choose among destinations" },
        { "headers", NULL, "a policy does not change headers" },
        { NULL, NULL, NULL },
    };

    (void)key;
    if (!bide__import_list(im, value))
        return;
    for (size_t i = 0; i < value->n; i++)
        bide__import_map(im, value->items[i], fields, ctx);
}

/* ===== a route ===== */

static void read_match(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    (void)key;
    if (bide__import_list(im, value))
        ((struct route *)ctx)->match = value;
}

static void add_policy(struct bide__import *im, struct route *r,
                       const node *where)
{
    struct bide__named_policy *p = bide__import_add(
        im, where, r->name && *r->name ? r->name : r->is->name);
    struct bide__istio_target *next;
    const char *name;

    if (!p)
        return;
    name = p->name;
    *p = r->p;
    p->name = name;
    if (!r->targets)
        bide__import_warn(im, where,
                          "without a destination this route leads nowhere: it "
                          "has a policy, but no place in `proxy:`");
    bide__istio_routes(im, r->is, r->match, r->targets, im->n - 1);
    for (struct bide__istio_target *t = r->targets; t; t = next) {
        next = t->next;
        t->policy = im->n - 1;
        t->next = r->is->targets;
        r->is->targets = t;
    }
}

static void read_route(struct bide__import *im, struct bide__istio *is,
                       const node *value)
{
    static const char routing[] = "a policy does not say where requests go";
    static const char other[] = "a policy has no such thing";
    static const struct bide__field fields[] = {
        { "name", read_name, NULL },
        { "timeout", read_timeout, NULL },
        { "retries", read_retries, NULL },
        { "route", read_destinations, NULL },
        { "match", read_match, NULL },
        { "redirect", NULL, routing },
        { "directResponse", NULL, routing },
        { "delegate", NULL, routing },
        { "rewrite", NULL, routing },
        { "mirror", NULL, routing },
        { "mirrors", NULL, routing },
        { "mirrorPercent", NULL, routing },
        { "mirrorPercentage", NULL, routing },
        { "fault", NULL, other },
        { "corsPolicy", NULL, other },
        { "headers", NULL, "a policy does not change headers" },
        { NULL, NULL, NULL },
    };
    const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;
    struct route r = { .is = is,
                       .p = { .conf = defaults, .has_retry_on = true } };

    bide__istio_defaults(&r.p);
    bide__import_map(im, value, fields, &r);
    if (value->kind == BIDE__MAP && !im->no_memory)
        add_policy(im, &r, value);
}

static void read_http(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    (void)key;
    if (!bide__import_list(im, value))
        return;
    for (size_t i = 0; i < value->n && !im->no_memory; i++)
        read_route(im, ctx, value->items[i]);
}

static void read_hosts(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    (void)key;
    if (bide__import_list(im, value))
        ((struct bide__istio *)ctx)->hosts = value;
}

/* The hosts first: they belong to each route. */
void bide__istio_virtual_service(struct bide__import *im,
                                 struct bide__istio *is, const node *spec)
{
    static const struct bide__field fields[] = {
        { "http", read_http, NULL },
        { "hosts", NULL, NULL },
        { "gateways", NULL, "a policy does not say where it applies" },
        { "exportTo", NULL, "a policy does not say where it applies" },
        { "tcp", NULL, "only HTTP is retried" },
        { "tls", NULL, "only HTTP is retried" },
        { NULL, NULL, NULL },
    };

    node *key = NULL, *hosts = NULL;

    is->hosts = NULL;
    if (spec->kind == BIDE__MAP)
        hosts = bide__map_get(spec, "hosts", &key);
    if (!bide__node_empty(hosts))
        read_hosts(im, is, key, hosts);
    if (spec->kind == BIDE__MAP && (!is->hosts || is->hosts->n == 0))
        bide__import_warn(im, spec,
                          "without `hosts` this applies to nothing in Istio; "
                          "its policies are written all the same");
    bide__import_map(im, spec, fields, is);
}
