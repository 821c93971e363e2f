/* idempotency.c: routes that accept keys, and what would forget or not honour
 * them. */
#include <string.h>

#include "config/doc/diag.h"
#include "config/lint/idempotency_lints.h"
#include "config/policy/policy_file.h"
#include "config/proxy/conf.h"
#include "config/store/conf.h"

static bool accepts(const struct bide__proxy_route *r)
{
    return r->idempotency.accept != BIDE__ACCEPT_OFF;
}

/* What a process forgets, another effect follows. */
static void forgetful(const bide_config *config, bide_diagnostics *notes)
{
    const struct bide__proxy_conf *p = config->proxy_conf;
    const struct bide__node *root = config->tree->root;
    const struct bide__node *node = bide__map_get(root, "store", NULL);
    size_t i = 0;

    while (i < p->n_routes && !accepts(&p->routes[i]))
        i++;
    if (!node || i == p->n_routes ||
        strcmp(bide__config_store(config)->url, "memory") != 0)
        return;
    bide__diag(notes, config->tree, node, BIDE_WARNING, "L026",
               "leave it out for a file beside this one, or write `store: "
               "sqlite:PATH`",
               "`memory` is not durable: a restart forgets all keys");
}

/* The policy says that the origin knows keys, the route that it does not. */
static void unsure(const bide_config *config, bide_diagnostics *notes)
{
    const struct bide__proxy_conf *p = config->proxy_conf;
    const struct bide__node *list =
        bide__map_get(config->proxy, "routes", NULL);

    for (size_t i = 0; i < p->n_routes; i++) {
        const struct bide__proxy_route *r = &p->routes[i];
        if (accepts(r) && r->policy->idempotency_key == BIDE_KEY_GENERATE &&
            r->idempotency.on_unknown == BIDE__UNKNOWN_REFUSE)
            bide__diag(notes, config->tree,
                       bide__map_get(list->items[i], "idempotency", NULL),
                       BIDE_WARNING, "L027",
                       "add `on_unknown: retry` if the origin knows keys; else "
                       "take `key: generate` out of the policy",
                       "the policy `%s` makes keys for the origin, and "
                       "`on_unknown: refuse` is for one that does not know "
                       "them",
                       r->policy_name);
    }
}

void bide__lint_idempotency(const bide_config *config, bide_diagnostics *notes)
{
    forgetful(config, notes);
    unsure(config, notes);
}
