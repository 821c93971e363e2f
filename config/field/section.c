/* section.c: the sections of the programs, read by their tables. */
#include "config/field/section.h"

#include <string.h>

#include "config/field/option_value.h"

void bide__wrong_field(struct bide__load *load,
                       const struct bide__section_field *f,
                       const struct bide__node *key,
                       const struct bide__node *node, const char *expected,
                       const char *help)
{
    bool empty = bide__node_empty(node);

    bide__mistake(
        load, empty ? key : node,
        empty || node->kind != BIDE__SCALAR ? "wrong-type" : "bad-value",
        help ? help : f->hint, "`%s`: expected %s; found %s", f->o.key,
        expected ? expected : f->o.expects, bide__node_found(load->tree, node));
}

bool bide__is_text(const struct bide__node *node)
{
    return node->kind == BIDE__SCALAR && !bide__node_empty(node) &&
           node->len > 0 && !memchr(node->text, '\0', node->len);
}

/* ===== values ===== */

static void read_text(struct bide__load *load,
                      const struct bide__section_field *f,
                      const struct bide__node *key,
                      const struct bide__node *node, void *to)
{
    if (!bide__is_text(node) || (f->fits && !f->fits(node)))
        bide__wrong_field(load, f, key, node, NULL, NULL);
    else
        memcpy((char *)to + f->o.offset, &node->text, sizeof node->text);
}

static void store_size(const struct bide__section_field *f, uint64_t bytes,
                       void *to)
{
    uint32_t narrow = (uint32_t)bytes;

    if (f->o.special)
        memcpy((char *)to + f->o.offset, &bytes, sizeof bytes);
    else
        memcpy((char *)to + f->o.offset, &narrow, sizeof narrow);
}

static void read_size(struct bide__load *load,
                      const struct bide__section_field *f,
                      const struct bide__node *key,
                      const struct bide__node *node, void *to)
{
    uint64_t bytes;

    if (f->o.special && bide__node_is(node, f->o.special))
        store_size(f, UINT64_MAX, to);
    else if (!bide__is_text(node) ||
             bide__parse_size(node->text, node->len, &bytes) < 0)
        bide__wrong_field(load, f, key, node, NULL,
                          "a size is a number of bytes, as in `65536` or "
                          "`64KiB`");
    else if ((double)bytes < f->o.min || (double)bytes > f->o.max)
        bide__mistake(load, node, "out-of-range", NULL,
                      "%s is out of range: `%s` takes %s",
                      bide__node_found(load->tree, node), f->o.key,
                      f->o.expects);
    else
        store_size(f, bytes, to);
}

/* ===== maps ===== */

/* Room for n members with their defaults, noted in `to`; NULL: no memory. */
static char *make_members(struct bide__load *load,
                          const struct bide__section_field *f, size_t n,
                          void *to)
{
    const struct bide__section_table *t = f->table;
    char *members = bide__load_alloc(load, (n + 1) * t->size);

    if (!members)
        return NULL;
    for (size_t i = 0; i < n; i++)
        memcpy(members + i * t->size, t->init, t->size);
    memcpy((char *)to + f->o.offset, &members, sizeof members);
    memcpy((char *)to + f->n_offset, &n, sizeof n);
    return members;
}

bool bide__right_number(struct bide__load *load,
                        const struct bide__section_field *f,
                        const struct bide__node *key,
                        const struct bide__node *node)
{
    size_t n = bide__member_count(node);

    if (n == 0)
        bide__mistake(load, key, "missing-key", f->hint, "`%s` holds nothing",
                      f->o.key);
    else if (n > f->most)
        bide__mistake(load, key, "out-of-range", NULL,
                      "`%s` holds %zu; there may be %zu", f->o.key, n, f->most);
    return n > 0 && n <= f->most;
}

static void read_list_of(struct bide__load *load,
                         const struct bide__section_field *f,
                         const struct bide__node *key,
                         const struct bide__node *node, void *to)
{
    char *members;

    if (node->kind != BIDE__LIST) {
        bide__wrong_field(load, f, key, node, "a list",
                          "begin each with a dash");
        return;
    }
    if (!bide__right_number(load, f, key, node) ||
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

static void read_map_of(struct bide__load *load,
                        const struct bide__section_field *f,
                        const struct bide__node *key,
                        const struct bide__node *node, void *to)
{
    char *members;

    if (bide__node_empty(node))
        bide__wrong_field(load, f, key, node, NULL, NULL);
    else if (bide__expect_map(load, key, node, NULL) &&
             bide__right_number(load, f, key, node) &&
             (members = make_members(load, f, node->n, to)))
        for (size_t i = 0; i < node->n; i++, members += f->table->size) {
            const struct bide__node *name = node->keys[i];

            if (!bide__is_text(name))
                bide__mistake(load, name, "bad-value", NULL,
                              "`%s`: each needs a name, without NUL bytes in "
                              "it",
                              f->o.key);
            memcpy(members + f->table->name_offset, &name->text,
                   sizeof name->text);
            if (bide__expect_map(load, name, node->items[i], NULL))
                bide__read_fields(load, f->table, name, node->items[i],
                                  members);
        }
}

static void read_field(struct bide__load *load,
                       const struct bide__section_field *f,
                       const struct bide__node *key,
                       const struct bide__node *node, void *to)
{
    if (f->read)
        f->read(load, f, key, node, to);
    else if (f->kind == BIDE__VALUE)
        bide__load_option(load, &f->o, key, node, to);
    else if (f->kind == BIDE__SIZE)
        read_size(load, f, key, node, to);
    else if (f->kind == BIDE__LIST_OF)
        read_list_of(load, f, key, node, to);
    else if (f->kind == BIDE__MAP_OF)
        read_map_of(load, f, key, node, to);
    else if (f->kind != BIDE__FIELDS)
        read_text(load, f, key, node, to);
    else if (bide__expect_map(load, key, node, f->hint))
        bide__read_fields(load, f->table, key, node, (char *)to + f->o.offset);
}

static void unknown(struct bide__load *load,
                    const struct bide__section_field *fields,
                    const struct bide__node *key)
{
    enum { MAX_FIELDS = 32 };
    const char *known[MAX_FIELDS + 1];
    size_t n = 0;

    for (; fields[n].o.key && n < MAX_FIELDS; n++)
        known[n] = fields[n].o.key;
    known[n] = NULL;
    bide__unknown_key(load, key, known, NULL);
}

void bide__read_fields(struct bide__load *load,
                       const struct bide__section_table *table,
                       const struct bide__node *where,
                       const struct bide__node *map, void *to)
{
    const struct bide__section_field *f;

    for (size_t i = 0; i < map->n; i++) {
        f = table->fields;
        while (f->o.key && !bide__node_is(map->keys[i], f->o.key))
            f++;
        if (f->o.key)
            read_field(load, f, map->keys[i], map->items[i], to);
        else
            unknown(load, table->fields, map->keys[i]);
    }
    for (f = table->fields; f->o.key; f++)
        if (f->required && bide__map_find(map, f->o.key) < 0)
            bide__mistake(load, where, "missing-key", f->hint,
                          "`%s` is missing", f->o.key);
    if (table->check)
        table->check(load, where, map, to);
}
