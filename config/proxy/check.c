/* check.c: checks keys of the `proxy:` section against each other, and the
 * section as a whole.
 *
 * If a default conflicts with a value that the file sets, the default is
 * adjusted; if the file sets both, it is an error. */
#include "config/proxy/check.h"

#include <string.h>
#include <strings.h>

#include "config/field/read.h"
#include "config/policy/policy_file.h"
#include "config/proxy/read.h"

static void together(struct bide__load *load, const struct bide__node *map,
                     const char *key, const char *needed, const char *help)
{
    struct bide__node *at;

    if (bide__map_get(map, key, &at) && !bide__map_get(map, needed, NULL))
        bide__mistake(load, at, "missing-key", help,
                      "`%s` is there, and `%s` is missing", key, needed);
}

/* Reports an error at the first of two keys, with a note at the other. */
static void clash(struct bide__load *load, const struct bide__node *map,
                  const char *key, const char *other, const char *help,
                  const char *message)
{
    struct bide__node *at, *there;

    if (!bide__map_get(map, key, &at) || !bide__map_get(map, other, &there))
        return;
    bide__mistake(load, at, "contradiction", help, "%s", message);
    bide__diag(load->notes, load->tree, there, BIDE_NOTE, "contradiction", NULL,
               "`%s` is here", other);
}

/* ===== routes ===== */

BIDE__CHECKER(bide__check_match)
{
    (void)where;
    (void)to;
    clash(load, map, "exact", "path", "take out one of the two",
          "`exact` and `path` both say what the path must be");
    clash(load, map, "grpc", "path", "take out one of the two",
          "`grpc` and `path` both say what the path must be");
    clash(load, map, "grpc", "exact", "take out one of the two",
          "`grpc` and `exact` both say what the path must be");
    together(load, map, "value", "header", "add `header: NAME`");
}

/* Both names together are the name of a dependency in metrics, traces and the
 * dashboard, which limit its length. */
static void check_name(struct bide__load *load, const struct bide__node *map,
                       const char *policy_name)
{
    const struct bide__node *upstream = bide__map_get(map, "upstream", NULL);
    size_t len = upstream && bide__is_text(upstream)
                     ? upstream->len + 1 + strlen(policy_name)
                     : 0;

    if (len > BIDE__PROXY_DEP_NAME)
        bide__mistake(load, upstream, "out-of-range", NULL,
                      "this upstream and its policy have names of %zu bytes, "
                      "with the slash between them; there may be %d",
                      len, BIDE__PROXY_DEP_NAME);
}

static const bide_policy_conf *policy_of(const struct bide__load *load,
                                         const char *name)
{
    static const bide_policy_conf init = BIDE_POLICY_CONF_INIT;
    const bide_config *config = load->config;
    long i = bide__map_find(config->policies, name);

    return i >= 0 && (size_t)i < config->n_entries ? &config->entries[i].conf
                                                   : &init;
}

/* Makes a route of its own, without a fallback, for the other upstream. */
static void make_fallback(struct bide__load *load, const struct bide__node *map,
                          struct bide__proxy_route *route)
{
    struct bide__proxy_fallback *f = &route->fallback;
    struct bide__proxy_route *made = bide__load_alloc(load, sizeof *made);

    if (!made)
        return;
    *made = (struct bide__proxy_route)BIDE__PROXY_ROUTE_INIT;
    made->upstream = f->upstream;
    made->policy_name = f->policy_name ? f->policy_name : route->policy_name;
    made->policy = policy_of(load, made->policy_name);
    check_name(load, map, made->policy_name);
    f->route = made;
}

/* A route without a policy uses the one named `default`, or the defaults. */
BIDE__CHECKER(bide__check_route)
{
    struct bide__proxy_route *route = to;
    const struct bide__node *fallback = bide__map_get(map, "fallback", NULL);

    (void)where;
    check_name(load, map, route->policy_name);
    route->policy = policy_of(load, route->policy_name);
    bide__check_idempotency(load, map, route);
    if (route->fallback.upstream == BIDE__NO_UPSTREAM)
        return;
    if (route->fallback.upstream == route->upstream)
        bide__mistake(load, bide__map_get(fallback, "upstream", NULL),
                      "contradiction", "name another upstream",
                      "the route itself leads to this upstream");
    make_fallback(load, fallback, route);
}

BIDE__CHECKER(bide__check_fallback)
{
    struct bide__proxy_fallback *f = to;
    const struct bide__node *status = bide__map_get(map, "status", NULL);
    const struct bide__node *body = bide__map_get(map, "body", NULL);

    together(load, map, "content_type", "body", "add `body: TEXT`");
    together(load, map, "policy", "upstream", "add `upstream: NAME`");
    if (map->n == 0)
        bide__mistake(load, where, "missing-key", "add `stale: 5m`",
                      "`fallback` holds nothing");
    if (body && f->status == 0)
        f->status = 503;
    if (f->status / 100 == 3 ||
        (body && (f->status == 204 || f->status == 205)))
        bide__mistake(load, status, "bad-value", NULL,
                      f->status / 100 == 3
                          ? "`status`: a static answer leads nowhere else"
                          : "`status`: an answer with this one has no body");
}

BIDE__CHECKER(bide__check_fault)
{
    (void)to;
    if (!bide__map_get(map, "abort", NULL) &&
        !bide__map_get(map, "delay", NULL))
        bide__mistake(load, where, "missing-key",
                      "add `abort: 503` or `delay: 2s`",
                      "`fault` says neither `delay` nor `abort`");
}

/* ===== limits ===== */

/* There must be room for more than a few large responses. */
BIDE__CHECKER(bide__check_limits)
{
    struct bide__proxy_limits *l = to;
    const struct bide__node *node = bide__map_get(map, "stale_answer", NULL);

    (void)where;
    if (l->stale_answer_bytes <= l->stale_bytes / 4)
        return;
    if (node)
        bide__mistake(load, node, "contradiction", NULL,
                      "`stale_answer` is more than a quarter of `stale`, which "
                      "is %lu",
                      (unsigned long)l->stale_bytes);
    l->stale_answer_bytes = l->stale_bytes / 4;
}

/* ===== upstreams ===== */

/* Never more than the limit on connections. */
static void fit(struct bide__load *load, const struct bide__node *map,
                const char *key, uint32_t *count, uint32_t connections)
{
    const struct bide__node *node = bide__map_get(map, key, NULL);

    if (*count <= connections)
        return;
    if (node)
        bide__mistake(load, node, "contradiction", NULL,
                      "`%s` is more than `connections`, which is %lu", key,
                      (unsigned long)connections);
    *count = connections;
}

BIDE__CHECKER(bide__check_pool)
{
    struct bide__proxy_upstream *upstream = to;

    (void)where;
    fit(load, map, "idle", &upstream->idle, upstream->connections);
    fit(load, map, "connecting", &upstream->connecting, upstream->connections);
}

BIDE__CHECKER(bide__check_health)
{
    struct bide__proxy_health *health = to;
    const struct bide__node *timeout = bide__map_get(map, "timeout", NULL);
    char every[32];

    const struct bide__node *grpc = bide__map_get(map, "grpc", NULL);

    if (!bide__map_get(map, "path", NULL) && !grpc && map->n > 0)
        bide__mistake(load, where, "missing-key", "add `path: /healthz`",
                      "`path` is missing: without it, nothing is asked");
    if (bide__map_get(map, "path", NULL) && grpc)
        bide__mistake(load, grpc, "contradiction", "remove one of the two",
                      "`path` and `grpc` are two ways to ask");
    if (health->timeout_ns > health->every_ns) {
        if (timeout)
            bide__mistake(
                load, timeout, "contradiction",
                "let a check end before the next begins",
                "`timeout` is longer than `every`, which is %s",
                bide_format_duration(health->every_ns, every, sizeof every));
        health->timeout_ns = health->every_ns;
    }
}

/* For sections where TLS is optional. */
BIDE__CHECKER(bide__check_pair)
{
    (void)where;
    (void)to;
    together(load, map, "certificate", "key", "add `key: FILE`");
    together(load, map, "key", "certificate", "add `certificate: FILE`");
}

/* ===== the whole value ===== */

/* A file that names authorities for client certificates requires them, unless
 * it says otherwise. */
BIDE__CHECKER(bide__check_server_tls)
{
    struct bide__proxy_server_tls *tls = to;
    const struct bide__node *clients =
        bide__map_get(map, "client_certificate", NULL);

    if (!bide__map_get(map, "certificate", NULL) &&
        !bide__map_get(map, "key", NULL) &&
        !bide__map_get(map, "certificates", NULL))
        bide__mistake(load, where, "missing-key",
                      "add `certificate: FILE` and `key: FILE`",
                      "`certificate` is missing: there is no TLS without one");
    together(load, map, "certificate", "key", "add `key: FILE`");
    together(load, map, "key", "certificate", "add `certificate: FILE`");
    if (tls->forward_client)
        together(load, map, "forward_client", "client_ca",
                 "add `client_ca: FILE`, whose certificates are accepted");
    if (tls->client_ca && !clients)
        tls->client_required = true;
    if (clients && bide__node_is(clients, "none"))
        clash(load, map, "client_ca", "client_certificate",
              "take it out, or ask for certificates: `client_certificate: "
              "optional`",
              "`client_ca` is for certificates that nobody is asked for");
    else if (clients)
        together(load, map, "client_certificate", "client_ca",
                 "add `client_ca: FILE`, whose certificates are accepted");
}

/* Whether two addresses are equal; the kernel chooses another port for each
 * 0. */
static bool same_address(const struct bide__proxy_address *a,
                         const struct bide__proxy_address *b)
{
    if (a->path && b->path)
        return strcmp(a->path, b->path) == 0;
    return a->host && b->host && a->port == b->port && a->port != 0 &&
           strcmp(a->host, b->host) == 0;
}

static void check_twice(struct bide__load *load,
                        const struct bide__proxy_address *list, size_t i,
                        const struct bide__node *node)
{
    for (size_t k = 0; k < i; k++)
        if (same_address(&list[k], &list[i])) {
            bide__mistake(load, bide__member(node, i), "duplicate-address",
                          "take out one of the two",
                          "`%s` is listened on already", list[i].text);
            bide__diag(load->notes, load->tree, bide__member(node, k),
                       BIDE_NOTE, "duplicate-address", NULL,
                       "the first is here");
            return;
        }
}

/* Refuses a header field that is dropped before routes are matched. */
static void check_matched_header(struct bide__load *load,
                                 const struct bide__proxy_conf *conf,
                                 const struct bide__node *route)
{
    const struct bide__node *match = bide__map_get(route, "match", NULL);
    const struct bide__node *header = bide__map_get(match, "header", NULL);

    if (!header || !bide__is_text(header))
        return;
    if (strcasecmp(header->text, "proxy") == 0)
        bide__mistake(load, header, "contradiction", "choose another name",
                      "`Proxy` is dropped from all requests: this route takes "
                      "none");
    else if (strchr(header->text, '_') && !conf->headers.underscores)
        bide__mistake(load, header, "contradiction",
                      "set `headers: { underscores: true }`",
                      "names with an underscore are dropped: this route takes "
                      "no request");
}

static void check_matched_headers(struct bide__load *load,
                                  const struct bide__proxy_conf *conf,
                                  const struct bide__node *map)
{
    const struct bide__node *routes = bide__map_get(map, "routes", NULL);

    for (size_t i = 0; routes && routes->kind == BIDE__LIST && i < routes->n;
         i++)
        check_matched_header(load, conf, routes->items[i]);
}

BIDE__CHECKER(bide__check_proxy)
{
    struct bide__proxy_conf *conf = to;

    (void)where;
    check_matched_headers(load, conf, map);
    if (conf->proxy_protocol == BIDE__PROXY_PROTOCOL_ACCEPT)
        together(load, map, "proxy_protocol", "trusted",
                 "add `trusted: [ADDRESS]`: who may say who its clients are");
    together(load, map, "group", "user", "add `user: NAME`");
    for (size_t i = 0; i < conf->n_listen; i++)
        check_twice(load, conf->listen, i, bide__map_get(map, "listen", NULL));
    for (size_t i = 0; conf->admin && i < conf->n_listen; i++)
        if (same_address(&conf->listen[i], conf->admin)) {
            bide__mistake(load, bide__map_get(map, "admin", NULL),
                          "duplicate-address", "take another port",
                          "`%s` is where requests come in", conf->admin->text);
            return;
        }
}

void bide__load_proxy(struct bide__load *load, const struct bide__node *key,
                      const struct bide__node *node)
{
    struct bide__proxy_conf *conf = bide__load_alloc(load, sizeof *conf);

    if (!conf)
        return;
    *conf = (struct bide__proxy_conf)BIDE__PROXY_CONF_INIT;
    load->config->proxy_conf = conf;
    bide__read_fields(load, &bide__proxy_table, key, node, conf);
}

const struct bide__proxy_conf *bide__config_proxy(const bide_config *config)
{
    return config ? config->proxy_conf : NULL;
}
