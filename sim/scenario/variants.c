/* variants.c: the same model with other policies, or balanced in another way.
 *
 *     variants:
 *       naive: naive                   # every caller by this policy
 *       with bide: { web: default, api > db: once }
 *       careless: { web: { policy: naive, idempotent: true } }
 *       in turn: { api: { balance: round_robin } }
 *       no pause: { jobs: { queue: { pauses: false } } }
 *
 * A key is a fleet, a service (all the calls that it makes; and the choice
 * among its servers) or `one > other`. */
#include <string.h>

#include "config/field/read.h"
#include "config/proxy/conf.h"
#include "sim/scenario/clients.h"
#include "sim/scenario/rows.h"

enum { MAX_VARIANTS = 32 };

/* Threads: owned. */
struct change {
    uint32_t policy;
    int repeat; /* or -1 */
    struct sim_model_balance balance;
    struct sim_model_queue queue;
};

#define S struct change
static const struct bide__field change_fields[] = {
    { "policy", AT(policy), TAKES_POLICY },
    { "idempotent", AT(repeat),
      TAKES_CHOICE(sim_repeat_words, "true, false or key") },
    { "balance", AT(balance.by), TAKES_BALANCE },
    { "ejection", AT(balance.ejection), TAKES_MAP(bide__ejection_table) },
    { "slow_start", AT(balance.slow_start_ns), TAKES_SPAN },
    { "queue", AT(queue), TAKES_MAP(sim_queue_table) },
    LAST
};
#undef S
static const struct bide__table change_table = { .fields = change_fields };

/* ===== whom it is about ===== */

static void set_edges(struct sim_load *l, struct sim_model_variant *v,
                      uint32_t service, uint32_t to, uint32_t policy)
{
    const struct sim_model_service *s = &l->model->services[service];

    for (uint32_t i = 0; i < s->n_edges; i++)
        if (to == SIM_NONE || s->edges[i].service == to)
            v->edge_policy[service][i] = policy;
}

static bool has_edge(const struct sim_model_service *s, uint32_t to)
{
    for (uint32_t i = 0; i < s->n_edges; i++)
        if (s->edges[i].service == to)
            return true;
    return false;
}

static long service_named(const struct sim_load *l, const char *text,
                          size_t len)
{
    char name[256];

    if (len >= sizeof name)
        return -1;
    memcpy(name, text, len);
    name[len] = '\0';
    return bide__map_find(l->services, name);
}

/* "api > db"; false if the key has another form. */
static bool set_edge(struct sim_load *l, struct sim_model_variant *v,
                     const struct bide__node *key, uint32_t policy)
{
    const char *arrow = strstr(key->text, " > ");
    long from, to;

    if (!arrow || memchr(key->text, '\0', key->len))
        return false;
    from = service_named(l, key->text, (size_t)(arrow - key->text));
    to = service_named(l, arrow + 3, strlen(arrow + 3));
    if (from < 0 || to < 0 ||
        !has_edge(&l->model->services[from], (uint32_t)to))
        return false;
    set_edges(l, v, (uint32_t)from, (uint32_t)to, policy);
    return true;
}

static void unknown_caller(struct sim_load *l, const struct bide__node *key)
{
    const char *help = sim_suggest_key(l, l->clients, key->text);

    if (strstr(key->text, " > "))
        help = "write `one > other` for the calls of a service to another";
    sim_mistake(l, key, "unknown-fleet", help,
                "there are no clients and no service %s",
                bide__node_found(l->base.tree, key));
}

/* ===== what is changed ===== */

static bool read_change(struct sim_load *l, struct change *c,
                        const struct sim_model_fleet *fleet,
                        const struct sim_model_service *service,
                        const struct bide__node *key,
                        const struct bide__node *node)
{
    *c = (struct change){ .policy = SIM_NONE, .repeat = -1 };
    if (service)
        c->balance = service->balance;
    if (fleet)
        c->queue = fleet->queue;
    if (node->kind == BIDE__MAP) {
        bide__read_fields(&l->base, &change_table, key, node, c);
        return true;
    }
    bide__read_field(&l->base, &change_fields[0], key, node, c);
    return c->policy != SIM_NONE;
}

/* Sets how the servers of a service are balanced, if it says so. */
static void set_balance(struct sim_load *l, struct sim_model_variant *v,
                        long service, struct change *c,
                        const struct bide__node *map)
{
    static const char *const keys[] = { "balance", "ejection", "slow_start" };
    const struct sim_model_service *s =
        service < 0 ? NULL : &l->model->services[service];
    struct bide__node *key = NULL;
    struct sim_model_balance *own;

    for (size_t i = 0; i < 3 && !key; i++)
        bide__map_get(map, keys[i], &key);
    if (!key)
        return;
    if (!s) {
        sim_mistake(l, key, "contradiction",
                    "name the service whose servers are chosen",
                    "`%s` can be changed for services only", key->text);
    } else if (s->servers <= 1) {
        sim_mistake(l, key, "contradiction", "give the service `servers: 3`",
                    "`%s` is about several servers, and `%s` has one",
                    key->text, s->name);
    } else if ((own = sim_load_alloc(l, 1, sizeof *own))) {
        *own = c->balance;
        own->ejects = own->ejects || bide__map_get(map, "ejection", NULL);
        v->balance[service] = own;
    }
}

/* Sets how the messages of a fleet are worked on, if it says so. */
static void set_queue(struct sim_load *l, struct sim_model_variant *v,
                      long fleet, const struct change *c,
                      const struct bide__node *map)
{
    struct bide__node *key = NULL;
    struct sim_model_queue *own;

    if (!bide__map_get(map, "queue", &key))
        return;
    if (fleet < 0) {
        sim_mistake(l, key, "contradiction", "name the clients that have it",
                    "`queue` can be changed for clients only");
    } else if (l->model->fleets[fleet].queue.workers == 0) {
        sim_mistake(l, key, "contradiction",
                    "give the clients `queue: { at_once: 16 }`",
                    "a variant can change a queue, and `%s` has none",
                    l->model->fleets[fleet].name);
    } else if ((own = sim_load_alloc(l, 1, sizeof *own))) {
        *own = c->queue;
        v->queue[fleet] = own;
    }
}

static void read_caller(struct sim_load *l, struct sim_model_variant *v,
                        const struct bide__node *key,
                        const struct bide__node *node)
{
    long fleet = bide__map_find(l->clients, key->text);
    long service = bide__map_find(l->services, key->text);
    struct change c;

    if (!read_change(l, &c, fleet < 0 ? NULL : &l->model->fleets[fleet],
                     service < 0 ? NULL : &l->model->services[service], key,
                     node))
        return;
    if (node->kind == BIDE__MAP) {
        set_balance(l, v, service, &c, node);
        set_queue(l, v, fleet, &c, node);
    }
    if (fleet >= 0) {
        v->fleet_policy[fleet] = c.policy;
        if (c.repeat >= 0)
            v->fleet_repeat[fleet] = (uint32_t)c.repeat;
        return;
    }
    if (c.repeat >= 0)
        sim_mistake(l, key, "contradiction", NULL,
                    "`idempotent` can be changed for clients only");
    if (service >= 0)
        set_edges(l, v, (uint32_t)service, SIM_NONE, c.policy);
    else if (!set_edge(l, v, key, c.policy))
        unknown_caller(l, key);
}

/* ===== a variant ===== */

static void everybody(struct sim_load *l, struct sim_model_variant *v,
                      uint32_t policy)
{
    for (uint32_t i = 0; i < l->model->n_fleets; i++)
        v->fleet_policy[i] = policy;
    for (uint32_t i = 0; i < l->model->n_services; i++)
        set_edges(l, v, i, SIM_NONE, policy);
}

static bool make_room(struct sim_load *l, struct sim_model_variant *v)
{
    const struct sim_model *m = l->model;

    v->fleet_policy = sim_load_alloc(l, m->n_fleets, sizeof *v->fleet_policy);
    v->fleet_repeat = sim_load_alloc(l, m->n_fleets, sizeof *v->fleet_repeat);
    v->edge_policy = sim_load_alloc(l, m->n_services, sizeof *v->edge_policy);
    v->balance = sim_load_alloc(l, m->n_services, sizeof *v->balance);
    v->queue = sim_load_alloc(l, m->n_fleets, sizeof *v->queue);
    if (!v->fleet_policy || !v->fleet_repeat || !v->edge_policy ||
        !v->balance || !v->queue)
        return false;
    for (uint32_t i = 0; i < m->n_fleets; i++)
        v->fleet_policy[i] = v->fleet_repeat[i] = SIM_NONE;
    for (uint32_t i = 0; i < m->n_services; i++) {
        v->edge_policy[i] =
            sim_load_alloc(l, m->services[i].n_edges, sizeof **v->edge_policy);
        if (!v->edge_policy[i])
            return false;
        set_edges(l, v, i, SIM_NONE, SIM_NONE);
    }
    return true;
}

static void read_variant(struct sim_load *l, struct sim_model_variant *v,
                         const struct bide__node *key,
                         const struct bide__node *node)
{
    v->name = (char *)key->text;
    if (key->len == 0 || memchr(key->text, '\0', key->len))
        sim_mistake(l, key, "bad-value", NULL,
                    "a variant needs a name, without NUL bytes in it");
    if (!make_room(l, v) || bide__node_empty(node))
        return;
    if (node->kind == BIDE__SCALAR) {
        everybody(l, v, sim_find_policy(l, node));
    } else if (node->kind == BIDE__MAP) {
        for (size_t i = 0; i < node->n; i++)
            read_caller(l, v, node->keys[i], node->items[i]);
    } else {
        sim_wrong(l, key, node, "a policy, or a map of clients and policies",
                  "write `naive: { web: naive }`");
    }
}

void sim_load_variants(struct sim_load *l, const struct bide__node *key,
                       const struct bide__node *node)
{
    struct sim_model *m = l->model;
    size_t n = node->n;

    if (bide__node_empty(node) ||
        !bide__expect_map(&l->base, key, node, "write `naive: { web: naive }`"))
        return;
    if (n > MAX_VARIANTS) {
        sim_mistake(l, node->keys[MAX_VARIANTS], "out-of-range",
                    "compare fewer at a time",
                    "there are %zu variants: at most %d are run", n,
                    MAX_VARIANTS);
        n = MAX_VARIANTS;
    }
    m->variants = sim_load_alloc(l, n, sizeof *m->variants);
    if (!m->variants)
        return;
    m->n_variants = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        read_variant(l, &m->variants[i], node->keys[i], node->items[i]);
}
