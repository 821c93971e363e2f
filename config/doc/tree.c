/* tree.c: lookups in a tree. build.c builds it. */
#define _GNU_SOURCE /* strnlen */
#include "config/doc/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/arena.h"
#include "config/doc/build.h"
#include "config/doc/yaml.h"

void bide__tree_free(struct bide__tree *tree)
{
    if (tree)
        bide__arena_free(tree->arena); /* the tree itself is in it */
}

static int refuse_mistaken(struct bide__tree **ret, struct bide__tree *tree,
                           bool mistaken)
{
    if (mistaken) {
        bide__tree_free(tree);
        return BIDE_EPARSE;
    }
    *ret = tree;
    return 0;
}

int bide__tree_yaml(struct bide__tree **ret, const char *name, const char *text,
                    size_t len, bide_diagnostics *notes)
{
    struct bide__tree *tree;
    bool mistaken;
    int rc = bide__tree_try_yaml(&tree, &mistaken, name, text, len, notes);

    return rc < 0 ? rc : refuse_mistaken(ret, tree, mistaken);
}

int bide__tree_json(struct bide__tree **ret, const char *name, const char *text,
                    size_t len, bide_diagnostics *notes)
{
    struct bide__tree *tree;
    bool mistaken;
    int rc = bide__tree_try_json(&tree, &mistaken, name, text, len, notes);

    return rc < 0 ? rc : refuse_mistaken(ret, tree, mistaken);
}

static bool is_json(const char *name)
{
    size_t n = strlen(name);

    return n >= 5 && strcmp(name + n - 5, ".json") == 0;
}

int bide__tree_try(struct bide__tree **ret, const char *name, const char *text,
                   size_t len, bide_diagnostics *notes)
{
    bool mistaken; /* counted in the notes as well */

    return is_json(name)
               ? bide__tree_try_json(ret, &mistaken, name, text, len, notes)
               : bide__tree_try_yaml(ret, &mistaken, name, text, len, notes);
}

bool bide__node_is(const struct bide__node *node, const char *text)
{
    return node && node->kind == BIDE__SCALAR && node->len == strlen(text) &&
           memcmp(node->text, text, node->len) == 0;
}

bool bide__node_empty(const struct bide__node *node)
{
    if (!node)
        return true;
    return node->kind == BIDE__SCALAR && !node->quoted &&
           (node->len == 0 || bide__node_is(node, "~") ||
            bide__node_is(node, "null"));
}

/* The first member with this key, in a map that has an index; or -1. */
static long find_sorted(const struct bide__node *map,
                        const struct bide__node *wanted)
{
    size_t low = 0, high = map->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (bide__key_order(map->keys[map->sorted[middle]], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < map->n &&
        bide__key_order(map->keys[map->sorted[low]], wanted) == 0)
        return (long)map->sorted[low];
    return -1;
}

long bide__map_find(const struct bide__node *map, const char *key)
{
    struct bide__node wanted = { .text = key, .len = strlen(key) };

    if (!map || map->kind != BIDE__MAP)
        return -1;
    if (map->sorted)
        return find_sorted(map, &wanted);
    for (size_t i = 0; i < map->n; i++)
        if (bide__key_order(map->keys[i], &wanted) == 0)
            return (long)i;
    return -1;
}

struct bide__node *bide__map_get(const struct bide__node *map, const char *key,
                                 struct bide__node **ret_key)
{
    long i = bide__map_find(map, key);

    if (i < 0)
        return NULL;
    if (ret_key)
        *ret_key = map->keys[i];
    return map->items[i];
}

const char *bide__node_found(struct bide__tree *tree,
                             const struct bide__node *node)
{
    enum { SHOWN = 40 };
    const char *text;
    int n;

    if (bide__node_empty(node))
        return "nothing";
    if (node->kind != BIDE__SCALAR)
        return node->kind == BIDE__LIST ? "a list" : "a map";
    if (node->len == 0)
        return "empty text";
    n = (int)strnlen(node->text, SHOWN);
    if (n == SHOWN && node->len > SHOWN)
        n = (int)bide__utf8_cut(node->text, SHOWN);
    text = bide__arena_printf(tree->arena,
                              node->quoted ? "\"%.*s%s\"" : "`%.*s%s`", n,
                              node->text, (size_t)n < node->len ? "..." : "");
    return text ? text : "text";
}
