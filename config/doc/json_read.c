/* json_read.c: JSON into a tree, by the reader of base/json_read.h. */
#include <string.h>

#include "base/arena.h"
#include "base/json_read.h"
#include "base/utf8.h"
#include "config/doc/build.h"
#include "config/doc/diag.h"

/* Threads: owned. */
struct reader {
    struct bide__builder b;
    struct bide__json_in in;
};

static struct bide__node *read_value(struct reader *r, unsigned depth);

/* "expected ..., found ..." */
static void tell(struct reader *r)
{
    const struct bide__json_in *in = &r->in;
    struct bide__tree *t = r->b.tree;
    size_t n = bide__utf8_next(in->at, (size_t)(in->end - in->at), NULL);

    bide__diag_at(r->b.notes, t->name, t->text, t->len, in->mark, BIDE_MISTAKE,
                  "syntax", in->help,
                  n ? "not JSON: expected %s, found `%.*s`"
                    : "not JSON: expected %s, found %.*s",
                  in->expected, n ? (int)n : 7, n ? in->at : "the end");
    bide__build_fail(&r->b, BIDE_EPARSE);
}

static void *no_memory(struct reader *r)
{
    bide__build_fail(&r->b, BIDE_ENOMEM);
    return NULL;
}

static struct bide__node *begin_node(struct reader *r, bide__node_kind kind,
                                     unsigned depth)
{
    return bide__build_node(&r->b, kind, bide__json_in_here(&r->in), depth);
}

static void end_node(const struct reader *r, struct bide__node *node)
{
    node->mark.end_line = r->in.line;
    node->mark.end_column = r->in.column;
}

/* ===== scalars ===== */

static struct bide__node *read_string(struct reader *r, unsigned depth)
{
    struct bide__node *node = begin_node(r, BIDE__SCALAR, depth);
    char *text;

    if (!node)
        return NULL;
    text = bide__arena_alloc(r->b.tree->arena, bide__json_in_longest(&r->in));
    if (!text)
        return no_memory(r);
    if (!bide__json_in_string(&r->in, text, &node->len))
        return NULL;
    node->quoted = true;
    node->text = text;
    end_node(r, node);
    return node;
}

static struct bide__node *read_word(struct reader *r, unsigned depth)
{
    struct bide__mark mark = bide__json_in_here(&r->in);
    size_t n = bide__json_in_word(&r->in);
    struct bide__node *node;

    if (n == 0)
        return NULL;
    node = bide__build_node(&r->b, BIDE__SCALAR, mark, depth);
    if (!node)
        return NULL;
    node->text = bide__arena_copy(r->b.tree->arena, r->in.at - n, n);
    node->len = n;
    end_node(r, node);
    return node->text ? node : no_memory(r);
}

/* ===== lists and maps ===== */

static bool read_member(struct reader *r, struct bide__node *parent,
                        unsigned depth)
{
    struct bide__node *key = NULL, *value;
    int c = bide__json_in_peek(&r->in);

    if (parent->kind == BIDE__MAP) {
        if (c != '"')
            return bide__json_in_refuse(
                &r->in, "a key in double quotes",
                c == '}' ? "take out the comma before this" : NULL);
        key = read_string(r, depth + 1);
        if (!key)
            return false;
        if (!bide__json_in_take(&r->in, ':'))
            return bide__json_in_refuse(&r->in, "`:`", NULL);
    }
    value = read_value(r, depth + 1);
    return value && bide__build_add(&r->b, parent, key, value, depth);
}

static bool read_members(struct reader *r, struct bide__node *parent,
                         char close, unsigned depth)
{
    if (bide__json_in_take(&r->in, close))
        return true;
    do {
        if (!read_member(r, parent, depth))
            return false;
    } while (bide__json_in_take(&r->in, ','));
    return bide__json_in_take(&r->in, close) ||
           bide__json_in_refuse(
               &r->in, close == '}' ? "`,` or `}`" : "`,` or `]`", NULL);
}

static struct bide__node *read_group(struct reader *r, bide__node_kind kind,
                                     unsigned depth)
{
    bool map = kind == BIDE__MAP;
    struct bide__node *node = begin_node(r, kind, depth);

    if (!node)
        return NULL;
    bide__json_in_take(&r->in, map ? '{' : '[');
    if (!read_members(r, node, map ? '}' : ']', depth))
        return NULL;
    end_node(r, node);
    return map && !bide__build_map_done(&r->b, node) ? NULL : node;
}

static struct bide__node *read_value(struct reader *r, unsigned depth)
{
    switch (bide__json_in_peek(&r->in)) {
    case '{':
        return read_group(r, BIDE__MAP, depth);
    case '[':
        return read_group(r, BIDE__LIST, depth);
    case '"':
        return read_string(r, depth);
    default:
        return read_word(r, depth);
    }
}

static void read_document(struct reader *r)
{
    if (bide__json_in_peek(&r->in) < 0)
        return; /* empty, which is for the caller to judge */
    r->b.tree->root = read_value(r, 1);
    if (r->b.rc == 0 && !r->in.expected && bide__json_in_peek(&r->in) >= 0)
        bide__json_in_refuse(&r->in, "the end", NULL);
    if (r->in.expected)
        tell(r);
}

int bide__tree_try_json(struct bide__tree **ret, bool *ret_mistaken,
                        const char *name, const char *text, size_t len,
                        bide_diagnostics *notes)
{
    struct reader r = { 0 };
    int rc = bide__build_begin(&r.b, name, text, len, notes);

    if (!r.b.tree)
        return rc;
    r.in = bide__json_read(r.b.tree->text, r.b.tree->len);
    if (rc == 0)
        read_document(&r);
    return bide__build_end(&r.b, ret, ret_mistaken);
}
