/* build.c: builds nodes under limits, whichever reader they come from.
 *
 * Every node knows how many nodes it expands to and how deep, so an alias costs
 * an addition, and neither a bomb nor a tower of aliases can be built. */
#define _GNU_SOURCE /* qsort_r */
#include "config/doc/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "config/doc/diag.h"

enum { INDEXED = 12 }; /* maps of more members than this get an index */

bool bide__build_fail(struct bide__builder *b, int rc)
{
    if (b->rc == 0)
        b->rc = rc;
    return false;
}

struct bide__mark bide__mark_of(const char *text, size_t len, size_t offset,
                                unsigned chars)
{
    struct bide__mark mark = { .line = 1, .column = 1 };

    for (size_t i = 0; i < offset && i < len;) {
        size_t line_break = bide__line_break(text + i, len - i);
        size_t n = bide__utf8_next(text + i, len - i, NULL);

        mark.line += line_break > 0;
        mark.column = line_break ? 1 : mark.column + 1;
        i += line_break ? line_break : n ? n : 1;
    }
    mark.end_line = mark.line;
    mark.end_column = mark.column + chars;
    return mark;
}

/* ===== beginning and end ===== */

static void not_utf8(struct bide__builder *b, size_t offset)
{
    struct bide__tree *t = b->tree;
    unsigned char c = (unsigned char)t->text[offset];
    bool utf16 = offset == 0 && t->len > 1 && (c == 0xff || c == 0xfe);

    bide__diag_at(b->notes, t->name, t->text, t->len,
                  bide__mark_of(t->text, t->len, offset, 1), BIDE_MISTAKE,
                  "not-utf8",
                  utf16 ? "this looks like UTF-16: save it as UTF-8"
                        : "save the file as UTF-8",
                  "the byte 0x%02x here is not UTF-8", c);
    bide__build_fail(b, BIDE_EPARSE);
}

static void check_encoding(struct bide__builder *b)
{
    const struct bide__tree *t = b->tree;

    for (size_t i = 0; i < t->len;) {
        size_t n = bide__utf8_next(t->text + i, t->len - i, NULL);

        if (n == 0) {
            not_utf8(b, i);
            return;
        }
        i += n;
    }
}

static struct bide__tree *new_tree(const char *name, const char *text,
                                   size_t len)
{
    struct bide__arena *arena = bide__arena_new();
    struct bide__tree *tree;

    if (!arena)
        return NULL;
    tree = bide__arena_alloc(arena, sizeof *tree);
    if (tree) {
        tree->arena = arena;
        tree->name = bide__arena_copy(arena, name, strlen(name));
        tree->text = bide__arena_copy(arena, text, len);
        tree->len = len;
    }
    if (!tree || !tree->name || !tree->text) {
        bide__arena_free(arena);
        return NULL;
    }
    return tree;
}

int bide__build_begin(struct bide__builder *b, const char *name,
                      const char *text, size_t len, bide_diagnostics *notes)
{
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        len -= 3;
    }
    *b = (struct bide__builder){ .notes = notes };
    b->tree = new_tree(name, text, len);
    if (!b->tree)
        return BIDE_ENOMEM;
    check_encoding(b);
    return b->rc;
}

int bide__build_end(struct bide__builder *b, struct bide__tree **ret,
                    bool *ret_mistaken)
{
    if (b->rc == 0) {
        *ret = b->tree;
        *ret_mistaken = b->mistaken;
    } else {
        bide__tree_free(b->tree);
    }
    return b->rc;
}

/* ===== nodes ===== */

static bool too_deep(struct bide__builder *b, const struct bide__node *node)
{
    bide__diag(b->notes, b->tree, node, BIDE_MISTAKE, "too-deep", NULL,
               "more than %d levels deep: no policy file is", BIDE__MAX_LEVELS);
    return bide__build_fail(b, BIDE_EPARSE);
}

bool bide__build_count(struct bide__builder *b, const struct bide__node *node,
                       size_t more)
{
    b->total += more;
    if (b->total <= BIDE__MAX_NODES)
        return true;
    bide__diag(b->notes, b->tree, node, BIDE_MISTAKE, "too-many-nodes", NULL,
               "more than %d values, aliases unfolded", BIDE__MAX_NODES);
    return bide__build_fail(b, BIDE_EPARSE);
}

struct bide__node *bide__build_node(struct bide__builder *b,
                                    bide__node_kind kind,
                                    struct bide__mark mark, unsigned depth)
{
    struct bide__node *node = bide__arena_alloc(b->tree->arena, sizeof *node);

    if (!node) {
        bide__build_fail(b, BIDE_ENOMEM);
        return NULL;
    }
    node->kind = kind;
    node->mark = mark;
    node->text = "";
    node->weight = 1;
    if (depth > BIDE__MAX_LEVELS) {
        too_deep(b, node);
        return NULL;
    }
    return bide__build_count(b, node, 1) ? node : NULL;
}

/* Room for one more pointer: arrays double at the powers of two. */
static bool grow(struct bide__builder *b, struct bide__node ***array, size_t n)
{
    struct bide__node **larger;

    if (n != 0 && (n < 4 || (n & (n - 1)) != 0))
        return true;
    larger =
        bide__arena_alloc(b->tree->arena, (n ? n * 2 : 4) * sizeof **array);
    if (!larger)
        return bide__build_fail(b, BIDE_ENOMEM);
    if (n)
        memcpy(larger, *array, n * sizeof **array);
    *array = larger;
    return true;
}

bool bide__build_add(struct bide__builder *b, struct bide__node *parent,
                     struct bide__node *key, struct bide__node *item,
                     unsigned depth)
{
    if (!grow(b, &parent->items, parent->n) ||
        (key && !grow(b, &parent->keys, parent->n)))
        return false;
    parent->items[parent->n] = item;
    if (key)
        parent->keys[parent->n] = key;
    parent->n++;
    parent->weight += item->weight;
    if (item->height + 1 > parent->height)
        parent->height = item->height + 1;
    return depth + parent->height <= BIDE__MAX_LEVELS || too_deep(b, item);
}

/* ===== duplicate keys ===== */

int bide__key_order(const struct bide__node *a, const struct bide__node *b)
{
    size_t shorter = a->len < b->len ? a->len : b->len;
    int c = shorter ? memcmp(a->text, b->text, shorter) : 0;

    return c ? c : (a->len > b->len) - (a->len < b->len);
}

static int by_key(const void *left, const void *right, void *map_)
{
    const struct bide__node *map = map_;
    unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;
    int c = bide__key_order(map->keys[a], map->keys[b]);

    return c ? c : (a > b) - (a < b);
}

static void twice(struct bide__builder *b, const struct bide__node *first,
                  const struct bide__node *second)
{
    bide__diag(b->notes, b->tree, second, BIDE_MISTAKE, "duplicate-key", NULL,
               "the key %s comes twice", bide__node_found(b->tree, second));
    bide__diag(b->notes, b->tree, first, BIDE_NOTE, "duplicate-key", NULL,
               "first defined here");
    b->mistaken = true;
}

static void compare_all(struct bide__builder *b, const struct bide__node *map)
{
    for (size_t i = 1; i < map->n; i++)
        for (size_t j = 0; j < i; j++)
            if (bide__key_order(map->keys[i], map->keys[j]) == 0) {
                twice(b, map->keys[j], map->keys[i]);
                break;
            }
}

bool bide__build_map_done(struct bide__builder *b, struct bide__node *map)
{
    unsigned *sorted;

    if (map->n <= INDEXED) {
        compare_all(b, map);
        return true;
    }
    sorted = bide__arena_alloc(b->tree->arena, map->n * sizeof *sorted);
    if (!sorted)
        return bide__build_fail(b, BIDE_ENOMEM);
    for (unsigned i = 0; i < map->n; i++)
        sorted[i] = i;
    qsort_r(sorted, map->n, sizeof *sorted, by_key, map);
    for (size_t i = 1, first = 0; i < map->n; i++) {
        if (bide__key_order(map->keys[sorted[i]], map->keys[sorted[first]]))
            first = i;
        else
            twice(b, map->keys[sorted[first]], map->keys[sorted[i]]);
    }
    map->sorted = sorted;
    return true;
}
