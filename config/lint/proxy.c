/* proxy.c: settings of the sidecar that are valid but risky. */

#include <string.h>

#include "config/field/read.h"
#include "config/lint/idempotency_lints.h"
#include "config/lint/proxy_lints.h"
#include "config/policy/policy_file.h"
#include "config/proxy/conf.h"

/* Warns at a key of a map. */
static void warn_at(const bide_config *config, bide_diagnostics *notes,
                    const struct bide__node *node, const char *code,
                    const char *help, const char *message)
{
    bide__diag(notes, config->tree, node, BIDE_WARNING, code, help, "%s",
               message);
}

static const struct bide__node *upstream_node(const bide_config *config,
                                              size_t i, const char *key)
{
    const struct bide__node *map =
        bide__map_get(config->proxy, "upstreams", NULL);

    return bide__map_get(map->items[i], key, NULL);
}

static void unverified(const bide_config *config, bide_diagnostics *notes)
{
    const struct bide__proxy_conf *p = config->proxy_conf;

    for (size_t i = 0; i < p->n_upstreams; i++)
        if (!p->upstreams[i].tls.verify)
            warn_at(
                config, notes,
                bide__map_get(upstream_node(config, i, "tls"), "verify", NULL),
                "L018", "name the authority instead: `ca: FILE`",
                "certificates of endpoints are not looked at");
}

static void trusted(const bide_config *config, bide_diagnostics *notes)
{
    const struct bide__proxy_conf *p = config->proxy_conf;
    const struct bide__node *node =
        bide__map_get(config->proxy, "trusted", NULL);

    for (size_t i = 0; i < p->n_trusted; i++)
        if (p->trusted[i].bits == 0)
            warn_at(config, notes, bide__member(node, i), "L019",
                    "name the networks of your own clients",
                    "every client is trusted");
}

bool bide__is_near(const struct bide__proxy_address *a)
{
    return a->path || strncmp(a->host, "127.", 4) == 0 ||
           strcmp(a->host, "::1") == 0;
}

static void admin(const bide_config *config, bide_diagnostics *notes)
{
    const struct bide__proxy_conf *p = config->proxy_conf;

    if (p->admin && !bide__is_near(p->admin))
        warn_at(config, notes, bide__map_get(config->proxy, "admin", NULL),
                "L020", "write `127.0.0.1`, or a Unix socket",
                "others than this machine reach the admin endpoint");
}

static bool same_endpoint(const struct bide__proxy_endpoint *a,
                          const struct bide__proxy_endpoint *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

static void endpoints(const bide_config *config, bide_diagnostics *notes)
{
    const struct bide__proxy_conf *p = config->proxy_conf;

    for (size_t i = 0; i < p->n_upstreams; i++) {
        const struct bide__proxy_upstream *u = &p->upstreams[i];

        for (size_t k = 1; k < u->n_endpoints; k++)
            for (size_t m = 0; m < k; m++)
                if (same_endpoint(&u->endpoints[k], &u->endpoints[m])) {
                    warn_at(
                        config, notes,
                        bide__member(upstream_node(config, i, "endpoints"), k),
                        "L021", NULL, "this endpoint is there already");
                    break;
                }
    }
}

void bide__lint_proxy(const bide_config *config, bide_diagnostics *notes)
{
    bide__lint_routes(config, notes);
    unverified(config, notes);
    trusted(config, notes);
    admin(config, notes);
    endpoints(config, notes);
    bide__lint_idempotency(config, notes);
}
