/* services.c: services, and the calls that they make. */
#include "sim/scenario/services.h"

#include <string.h>

#include "config/field/read.h"

/* ===== the calls of a service ===== */

static void read_edge(struct sim_load *l, struct sim_model_edge *edge,
                      const struct bide__node *key,
                      const struct bide__node *node)
{
    memcpy(edge, sim_edge_table.init, sizeof *edge);
    if (node->kind == BIDE__SCALAR && !bide__node_empty(node)) {
        edge->service = sim_find_service(l, node);
        edge->policy = sim_usual_policy(l, node);
        return;
    }
    if (node->kind != BIDE__MAP) {
        sim_wrong(l, key, node, "a service, or a map, for each call",
                  "write `calls: [ { service: db, policy: default } ]`");
        return;
    }
    bide__read_fields(&l->base, &sim_edge_table, node, node, edge);
    if (!bide__map_get(node, "policy", NULL))
        edge->policy = sim_usual_policy(l, node);
}

/* A list of one may be written as the call itself. */
SIM_READER(sim_read_calls)
{
    struct sim_load *l = (struct sim_load *)load;
    struct sim_model_service *service = into;
    bool list = node->kind == BIDE__LIST;
    size_t n = list ? node->n : 1;

    (void)f;
    if (bide__node_empty(node))
        return;
    service->edges = sim_load_alloc(l, n, sizeof *service->edges);
    if (!service->edges)
        return;
    service->n_edges = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        read_edge(l, &service->edges[i], key, list ? node->items[i] : node);
}

/* ===== a service ===== */

/* A file may give this value in two places; the model keeps it once. */
static void check_retry_after(struct sim_load *l, const struct bide__node *map)
{
    const struct bide__node *queue = bide__map_get(map, "queue", NULL);
    const struct bide__node *limit = bide__map_get(map, "rate_limit", NULL);
    struct bide__node *key;

    if (bide__map_get(queue, "retry_after", NULL) &&
        bide__map_get(limit, "retry_after", &key))
        sim_mistake(l, key, "contradiction", "take out one of the two",
                    "`queue` and `rate_limit` both say what Retry-After says");
}

/* Keys that say nothing of a single server. */
static void check_pool(struct sim_load *l, struct sim_model_service *service,
                       const struct bide__node *map)
{
    static const char *const keys[] = { "balance", "ejection", "slow_start" };
    struct bide__node *key;

    service->balance.ejects = bide__map_get(map, "ejection", NULL) != NULL;
    for (size_t i = 0; i < 3 && service->servers <= 1; i++)
        if (bide__map_get(map, keys[i], &key))
            sim_mistake(l, key, "contradiction", "add `servers: 3`",
                        "`%s` is about several servers, and `%s` has one",
                        keys[i], service->name);
    if (bide__map_get(map, "slow_start", &key) && !service->balance.ejects)
        sim_mistake(l, key, "contradiction", "add `ejection: {}`",
                    "`slow_start` is about servers that return from an "
                    "ejection, and there is none");
}

static void set_burst(struct sim_model_service *service,
                      const struct bide__node *map)
{
    const struct bide__node *limit = bide__map_get(map, "rate_limit", NULL);

    if (limit && !bide__map_get(limit, "burst", NULL))
        service->limit_burst =
            service->limit_rate > 1 ? service->limit_rate : 1;
}

static void read_service(struct sim_load *l, struct sim_model_service *service,
                         const struct bide__node *name,
                         const struct bide__node *map)
{
    memcpy(service, sim_service_table.init, sizeof *service);
    service->name = (char *)name->text;
    if (!bide__expect_map(&l->base, name, map,
                          "write `{ workers: 10, time: 20ms }`"))
        return;
    bide__read_fields(&l->base, &sim_service_table, name, map, service);
    check_retry_after(l, map);
    check_pool(l, service, map);
    set_burst(service, map);
}

/* A name must be usable in `variants`, which names both fleets and services. */
static void check_name(struct sim_load *l, const struct bide__node *name)
{
    struct bide__node *other;

    if (name->len == 0 || memchr(name->text, '\0', name->len))
        sim_mistake(l, name, "bad-value", NULL,
                    "a service needs a name, without NUL bytes in it");
    else if (bide__map_get(l->clients, name->text, &other)) {
        sim_mistake(l, name, "contradiction", "give one of them another name",
                    "clients and a service are both called `%s`", name->text);
        bide__diag(l->base.notes, l->base.tree, other, BIDE_NOTE,
                   "contradiction", NULL, "the clients are here");
    }
}

void sim_load_services(struct sim_load *l)
{
    const struct bide__node *all = l->services;
    struct sim_model *m = l->model;

    if (!all || !(m->services = sim_load_alloc(l, all->n, sizeof *m->services)))
        return;
    m->n_services = (uint32_t)all->n;
    for (size_t i = 0; i < all->n; i++) {
        check_name(l, all->keys[i]);
        read_service(l, &m->services[i], all->keys[i], all->items[i]);
    }
}
