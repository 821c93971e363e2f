/* map.c: reads the maps of a scenario, member by member, and the names in
 * them. */
#include <string.h>

#include "config/doc/diag.h"
#include "config/field/read.h"
#include "config/policy/policy_file.h"
#include "sim/scenario/load.h"

void *sim_load_alloc(struct sim_load *l, size_t n, size_t size)
{
    return bide__load_alloc(&l->base, n * size + 1);
}

void sim_wrong(struct sim_load *l, const struct bide__node *key,
               const struct bide__node *node, const char *expected,
               const char *help)
{
    struct bide__field f = { .key = key->text };

    bide__wrong_field(&l->base, &f, key, node, expected, help);
}

bool sim_read_map(struct sim_load *l, const struct bide__table *table,
                  void *into, const struct bide__node *key,
                  const struct bide__node *node, const char *help)
{
    size_t before = bide__diag_mistakes(l->base.notes);

    if (node->kind == BIDE__MAP)
        bide__read_fields(&l->base, table, node, node, into);
    else
        sim_wrong(l, key, node, "a map", help);
    return bide__diag_mistakes(l->base.notes) == before;
}

/* A text without trailing white space, which YAML block scalars end with. */
SIM_READER(sim_read_text)
{
    size_t len = node->len;
    char *copy;

    if (node->kind != BIDE__SCALAR || bide__node_empty(node) ||
        memchr(node->text, '\0', node->len)) {
        bide__wrong_field(load, f, key, node, NULL, NULL);
        return;
    }
    while (len > 0 && strchr(" \n", node->text[len - 1]))
        len--;
    copy = bide__arena_copy(load->tree->arena, node->text, len);
    if (!copy)
        load->no_memory = true;
    memcpy((char *)into + f->offset, &copy, sizeof copy);
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

/* The index of a name in a map, or SIM_NONE after an error. */
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

static uint32_t find_fleet(struct sim_load *l, const struct bide__node *name)
{
    return find_in(l, l->clients, name, "unknown-fleet", "fleet of clients");
}

/* Reads a name; a value that is not text is an error. */
static void read_name(struct bide__load *load, const struct bide__field *f,
                      const struct bide__node *key,
                      const struct bide__node *node, void *into,
                      uint32_t (*find)(struct sim_load *,
                                       const struct bide__node *))
{
    struct sim_load *l = (struct sim_load *)load;
    uint32_t number;

    if (node->kind != BIDE__SCALAR || bide__node_empty(node)) {
        sim_wrong(l, key, node, f->expects, NULL);
        return;
    }
    number = find(l, node);
    memcpy((char *)into + f->offset, &number, sizeof number);
}

SIM_READER(sim_read_policy)
{
    read_name(load, f, key, node, into, sim_find_policy);
}

SIM_READER(sim_read_service)
{
    read_name(load, f, key, node, into, sim_find_service);
}

SIM_READER(sim_read_fleet)
{
    read_name(load, f, key, node, into, find_fleet);
}

uint32_t sim_usual_policy(struct sim_load *l, const struct bide__node *where)
{
    const struct bide__node *policies = l->base.config->policies;
    long i = bide__map_find(policies, "default");

    if (i >= 0)
        return (uint32_t)i;
    if (policies && policies->n == 1)
        return 0;
    if (policies) /* else an error has been reported */
        sim_mistake(l, where, "missing-key",
                    "name one, or call one of them `default`",
                    "`policy` is missing");
    return SIM_NONE;
}
