/* map.c: a map of a scenario, member by member, and the names in it.
 */
#include <string.h>

#include "sim/scenario/load.h"

void *sim_load_alloc(struct sim_load *l, size_t n, size_t size)
{
    return bide__load_alloc(&l->base, n * size + 1);
}

/* ===== fields ===== */

static void unknown(struct sim_load *l, const struct sim_field *fields,
                    const struct bide__node *key)
{
    enum { MAX_FIELDS = 32 };
    const char *known[MAX_FIELDS + 1];
    size_t n = 0;

    for (; fields[n].key && n < MAX_FIELDS; n++)
        known[n] = fields[n].key;
    known[n] = NULL;
    bide__unknown_key(&l->base, key, known, NULL);
}

static bool set_number_of(uint32_t number, const struct sim_field *f,
                          void *into)
{
    memcpy((char *)into + f->offset, &number, sizeof number);
    return number != SIM_NONE;
}

/* A name that is not text is a mistake; then NULL. */
static const struct bide__node *name_in(struct sim_load *l,
                                        const struct sim_field *f,
                                        const struct bide__node *key,
                                        const struct bide__node *node)
{
    if (node->kind == BIDE__SCALAR && !bide__node_empty(node))
        return node;
    sim_wrong(l, key, node, f->expects, NULL);
    return NULL;
}

bool sim_read_field(struct sim_load *l, const struct sim_field *f, void *into,
                    const struct bide__node *key, const struct bide__node *node)
{
    switch (f->kind) {
    case SIM_FIELD_OTHER:
        return true;
    case SIM_FIELD_GROUP:
        if (!bide__expect_map(&l->base, key, node, NULL))
            return false;
        sim_read_fields(l, f->fields, into, node);
        return true;
    case SIM_FIELD_DIST:
        return sim_read_dist(l, (void *)((char *)into + f->offset), key, node);
    case SIM_FIELD_POLICY:
        return name_in(l, f, key, node) &&
               set_number_of(sim_find_policy(l, node), f, into);
    case SIM_FIELD_SERVICE:
        return name_in(l, f, key, node) &&
               set_number_of(sim_find_service(l, node), f, into);
    case SIM_FIELD_FLEET:
        return name_in(l, f, key, node) &&
               set_number_of(sim_find_fleet(l, node), f, into);
    default:
        return sim_read_scalar(l, f, into, key, node);
    }
}

void sim_read_fields(struct sim_load *l, const struct sim_field *fields,
                     void *into, const struct bide__node *map)
{
    for (size_t i = 0; map->kind == BIDE__MAP && i < map->n; i++) {
        const struct sim_field *f = fields;

        while (f->key && !bide__node_is(map->keys[i], f->key))
            f++;
        if (f->key)
            sim_read_field(l, f, into, map->keys[i], map->items[i]);
        else
            unknown(l, fields, map->keys[i]);
    }
}

bool sim_read_needed(struct sim_load *l, const struct sim_field *fields,
                     void *into, const struct bide__node *key,
                     const struct bide__node *node, const char *const *needed,
                     const char *help)
{
    size_t before = bide__diag_mistakes(l->base.notes);

    if (node->kind != BIDE__MAP) {
        sim_wrong(l, key, node, "a map", help);
        return false;
    }
    sim_read_fields(l, fields, into, node);
    for (; *needed; needed++)
        if (!bide__map_get(node, *needed, NULL))
            sim_mistake(l, node, "missing-key", help, "`%s` is missing",
                        *needed);
    return bide__diag_mistakes(l->base.notes) == before;
}

bool sim_both(struct sim_load *l, const struct bide__node *map, const char *a,
              const char *b, const char *what)
{
    struct bide__node *first, *second;

    if (!bide__map_get(map, a, &first) || !bide__map_get(map, b, &second))
        return false;
    sim_mistake(l, second, "contradiction", "take out one of the two",
                "`%s` and `%s` both say %s", a, b, what);
    bide__diag(l->base.notes, l->base.tree, first, BIDE_NOTE, "contradiction",
               NULL, "`%s` is here", a);
    return true;
}

/* ===== names ===== */

const char *sim_suggest_key(struct sim_load *l, const struct bide__node *map,
                            const char *found)
{
    enum { MAX_SUGGESTED = 100 };
    const char *known[MAX_SUGGESTED + 1];
    size_t n = 0;

    for (; map && n < map->n && n < MAX_SUGGESTED; n++)
        known[n] = map->keys[n]->text;
    known[n] = NULL;
    return bide__did_you_mean(l->base.notes, found, known);
}

/* The place of a name in a map, or SIM_NONE after a mistake. */
static uint32_t find_in(struct sim_load *l, const struct bide__node *map,
                        const struct bide__node *name, const char *code,
                        const char *what)
{
    long i = memchr(name->text, '\0', name->len)
                 ? -1
                 : bide__map_find(map, name->text);

    if (i >= 0)
        return (uint32_t)i;
    sim_mistake(l, name, code, sim_suggest_key(l, map, name->text),
                "there is no %s %s", what,
                bide__node_found(l->base.tree, name));
    return SIM_NONE;
}

uint32_t sim_find_policy(struct sim_load *l, const struct bide__node *name)
{
    return find_in(l, l->base.config->policies, name, "unknown-policy",
                   "policy");
}

uint32_t sim_find_service(struct sim_load *l, const struct bide__node *name)
{
    return find_in(l, l->services, name, "unknown-service", "service");
}

uint32_t sim_find_fleet(struct sim_load *l, const struct bide__node *name)
{
    return find_in(l, l->clients, name, "unknown-fleet", "fleet of clients");
}

uint32_t sim_usual_policy(struct sim_load *l, const struct bide__node *where)
{
    const struct bide__node *policies = l->base.config->policies;
    long i = bide__map_find(policies, "default");

    if (i >= 0)
        return (uint32_t)i;
    if (policies && policies->n == 1)
        return 0;
    if (policies) /* else there is a mistake already */
        sim_mistake(l, where, "missing-key",
                    "name one, or call one of them `default`",
                    "`policy` is missing");
    return SIM_NONE;
}
