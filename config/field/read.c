/* read.c: reads maps by their tables. */
#include "config/field/read.h"

#include <string.h>

void bide__wrong_field(struct bide__load *load, const struct bide__field *f,
                       const struct bide__node *key,
                       const struct bide__node *node, const char *expected,
                       const char *help)
{
    bool empty = bide__node_empty(node);

    bide__mistake(
        load, empty ? key : node,
        empty || node->kind != BIDE__SCALAR ? "wrong-type" : "bad-value",
        help ? help : f->hint, "`%s`: expected %s; found %s", f->key,
        expected ? expected : f->expects, bide__node_found(load->tree, node));
}

bool bide__is_text(const struct bide__node *node)
{
    return node->kind == BIDE__SCALAR && !bide__node_empty(node) &&
           node->len > 0 && !memchr(node->text, '\0', node->len);
}

size_t bide__member_count(const struct bide__node *node)
{
    return node->kind == BIDE__SCALAR ? 1 : node->n;
}

const struct bide__node *bide__member(const struct bide__node *node, size_t i)
{
    return node->kind == BIDE__LIST ? node->items[i] : node;
}

/* Stores members and their number. */
static void store_members(const struct bide__field *f, void *to, char *members,
                          size_t n)
{
    memcpy((char *)to + f->offset, &members, sizeof members);
    memcpy((char *)to + f->n_offset, &n, sizeof n);
}

/* Whether a list or map is neither empty nor too long; otherwise an error. */
static bool right_number(struct bide__load *load, const struct bide__field *f,
                         const struct bide__node *key,
                         const struct bide__node *node)
{
    size_t n = bide__member_count(node);

    if (n == 0)
        bide__mistake(load, key, "missing-key", f->hint, "`%s` holds nothing",
                      f->key);
    else if (n > f->most)
        bide__mistake(load, key, "out-of-range", NULL,
                      "`%s` holds %zu; there may be %zu", f->key, n, f->most);
    return n > 0 && n <= f->most;
}

/* ===== texts ===== */

static void read_item(struct bide__load *load, const struct bide__field *f,
                      const struct bide__node *key,
                      const struct bide__node *node, void *member)
{
    const char *help = f->hint;

    if (!bide__is_text(node) || (help = f->item(load, node, member))) {
        bide__wrong_field(load, f, key, node, NULL, help);
        memset(member, 0, f->size);
    }
}

static void read_texts(struct bide__load *load, const struct bide__field *f,
                       const struct bide__node *key,
                       const struct bide__node *node, void *to)
{
    size_t n = bide__member_count(node);
    char *members;

    if (bide__node_empty(node) || node->kind == BIDE__MAP) {
        bide__wrong_field(load, f, key, node, NULL, NULL);
        return;
    }
    if (!right_number(load, f, key, node) ||
        !(members = bide__load_alloc(load, (n + 1) * f->size)))
        return;
    store_members(f, to, members, n);
    for (size_t i = 0; i < n; i++)
        read_item(load, f, key, bide__member(node, i), members + i * f->size);
}

static void read_text(struct bide__load *load, const struct bide__field *f,
                      const struct bide__node *key,
                      const struct bide__node *node, void *to)
{
    if (!bide__is_text(node) || (f->fits && !f->fits(node)))
        bide__wrong_field(load, f, key, node, NULL, NULL);
    else
        memcpy((char *)to + f->offset, &node->text, sizeof node->text);
}

/* A text that is read into a struct: allocates it and stores the pointer. */
static void read_made(struct bide__load *load, const struct bide__field *f,
                      const struct bide__node *key,
                      const struct bide__node *node, void *to)
{
    void *member = bide__load_alloc(load, f->size);

    if (!member)
        return;
    memcpy((char *)to + f->offset, &member, sizeof member);
    read_item(load, f, key, node, member);
}

/* ===== maps ===== */

/* Allocates n members with their defaults and stores them in `to`; NULL: out of
 * memory. */
static char *make_members(struct bide__load *load, const struct bide__field *f,
                          size_t n, void *to)
{
    const struct bide__table *t = f->table;
    char *members = bide__load_alloc(load, (n + 1) * t->size);

    if (!members)
        return NULL;
    for (size_t i = 0; i < n; i++)
        memcpy(members + i * t->size, t->init, t->size);
    store_members(f, to, members, n);
    return members;
}

static void read_list_of(struct bide__load *load, const struct bide__field *f,
                         const struct bide__node *key,
                         const struct bide__node *node, void *to)
{
    char *members;

    if (node->kind != BIDE__LIST) {
        bide__wrong_field(load, f, key, node, "a list",
                          "begin each with a dash");
        return;
    }
    if (!right_number(load, f, key, node) ||
        !(members = make_members(load, f, node->n, to)))
        return;
    for (size_t i = 0; i < node->n; i++) {
        const struct bide__node *item = node->items[i];

        if (item->kind == BIDE__MAP)
            bide__read_fields(load, f->table, item, item,
                              members + i * f->table->size);
        else
            bide__wrong_field(load, f, key, item, "a list of maps", NULL);
    }
}

static void read_map_of(struct bide__load *load, const struct bide__field *f,
                        const struct bide__node *key,
                        const struct bide__node *node, void *to)
{
    char *members;

    if (bide__node_empty(node))
        bide__wrong_field(load, f, key, node, NULL, NULL);
    else if (bide__expect_map(load, key, node, NULL) &&
             right_number(load, f, key, node) &&
             (members = make_members(load, f, node->n, to)))
        for (size_t i = 0; i < node->n; i++, members += f->table->size) {
            const struct bide__node *name = node->keys[i];

            if (!bide__is_text(name))
                bide__mistake(load, name, "bad-value", NULL,
                              "`%s`: each needs a name, without NUL bytes in "
                              "it",
                              f->key);
            memcpy(members + f->table->name_offset, &name->text,
                   sizeof name->text);
            if (bide__expect_map(load, name, node->items[i], NULL))
                bide__read_fields(load, f->table, name, node->items[i],
                                  members);
        }
}

void bide__read_field(struct bide__load *load, const struct bide__field *f,
                      const struct bide__node *key,
                      const struct bide__node *node, void *to)
{
    if (f->read)
        f->read(load, f, key, node, to);
    else if (f->type == BIDE__TEXT && f->item)
        read_made(load, f, key, node, to);
    else if (f->type == BIDE__TEXT)
        read_text(load, f, key, node, to);
    else if (f->type == BIDE__TEXTS)
        read_texts(load, f, key, node, to);
    else if (f->type == BIDE__LIST_OF)
        read_list_of(load, f, key, node, to);
    else if (f->type == BIDE__MAP_OF)
        read_map_of(load, f, key, node, to);
    else if (f->type != BIDE__FIELDS)
        bide__read_value(load, f, key, node, to);
    else if (bide__expect_map(load, key, node, f->hint))
        bide__read_fields(load, f->table, key, node, (char *)to + f->offset);
}

static void unknown(struct bide__load *load, const struct bide__field *fields,
                    const struct bide__node *key)
{
    enum { MAX_FIELDS = 32 };
    const char *known[MAX_FIELDS + 1];
    size_t n = 0;

    for (; fields[n].key && n < MAX_FIELDS; n++)
        known[n] = fields[n].key;
    known[n] = NULL;
    bide__unknown_key(load, key, known, NULL);
}

void bide__read_fields(struct bide__load *load, const struct bide__table *table,
                       const struct bide__node *where,
                       const struct bide__node *map, void *to)
{
    const struct bide__field *f;

    for (size_t i = 0; map->kind == BIDE__MAP && i < map->n; i++) {
        f = table->fields;
        while (f->key && !bide__node_is(map->keys[i], f->key))
            f++;
        if (f->key)
            bide__read_field(load, f, map->keys[i], map->items[i], to);
        else
            unknown(load, table->fields, map->keys[i]);
    }
    for (f = table->fields; f->key; f++)
        if (f->required && bide__map_find(map, f->key) < 0)
            bide__mistake(load, where, "missing-key", f->hint,
                          "`%s` is missing", f->key);
    if (table->check)
        table->check(load, where, map, to);
}
