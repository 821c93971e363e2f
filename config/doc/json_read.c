/* json_read.c: JSON (RFC 8259) into a tree.
 *
 * Strict where libyaml would be generous, and generous where YAML is strict:
 * pairs of surrogates, tabs, keys of any length. The first mistake in the
 * grammar ends the reading, since what comes behind it cannot be told apart
 * from it. */
#include <string.h>

#include "base/arena.h"
#include "config/doc/json_reader.h"

static struct bide__node *read_value(struct bide__json_in *r, unsigned depth);

static void skip_space(struct bide__json_in *r)
{
    int c;

    while ((c = bide__json_peek_in(r)) == ' ' || c == '\t' || c == '\n' ||
           c == '\r')
        bide__json_step(r);
}

/* ===== strings ===== */

/* At least as many bytes as the string at the front has. */
static size_t longest(const struct bide__json_in *r)
{
    const char *at = r->at + 1;

    while (at < r->end && *at != '"')
        at += *at == '\\' && at + 1 < r->end ? 2 : 1;
    return (size_t)(at - r->at);
}

static struct bide__node *read_string(struct bide__json_in *r, unsigned depth)
{
    struct bide__node *node =
        bide__build_node(&r->b, BIDE__SCALAR, bide__json_here(r), depth);
    char *text, *to;

    if (!node)
        return NULL;
    text = to = bide__arena_alloc(r->b.tree->arena, longest(r) + 4);
    if (!text) {
        bide__build_fail(&r->b, BIDE_ENOMEM);
        return NULL;
    }
    bide__json_step(r);
    if (!bide__json_chars(r, &to))
        return NULL;
    node->quoted = true;
    node->text = text;
    node->len = (size_t)(to - text);
    node->mark.end_line = r->line;
    node->mark.end_column = r->column;
    return node;
}

/* ===== numbers and words ===== */

static size_t digits(const char *at, const char *end)
{
    size_t n = 0;

    while (at + n < end && at[n] >= '0' && at[n] <= '9')
        n++;
    return n;
}

/* The length of the number at the front, 0 if there is none. */
static size_t number_length(const char *start, const char *end)
{
    const char *at = start;
    size_t n;

    at += at < end && *at == '-';
    n = digits(at, end);
    if (n == 0 || (*at == '0' && n > 1))
        return 0;
    at += n;
    if (at < end && *at == '.') {
        n = digits(at + 1, end);
        if (n == 0)
            return 0;
        at += n + 1;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        n = digits(at, end);
        if (n == 0)
            return 0;
        at += n;
    }
    return (size_t)(at - start);
}

static size_t word_length(const char *at, const char *end)
{
    static const char *const words[] = { "true", "false", "null" };

    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);

        if ((size_t)(end - at) >= n && memcmp(at, words[i], n) == 0)
            return n;
    }
    return number_length(at, end);
}

static struct bide__node *read_word(struct bide__json_in *r, unsigned depth)
{
    size_t n = word_length(r->at, r->end);
    struct bide__node *node;

    if (n == 0) {
        bide__json_refuse(r, bide__json_here(r), "a value",
                          bide__json_peek_in(r) == '\'' ? "use double quotes"
                                                        : NULL);
        return NULL;
    }
    node = bide__build_node(&r->b, BIDE__SCALAR, bide__json_here(r), depth);
    if (!node)
        return NULL;
    node->text = bide__arena_copy(r->b.tree->arena, r->at, n);
    node->len = n;
    r->at += n;
    r->column += (unsigned)n;
    node->mark.end_column = r->column;
    if (!node->text) {
        bide__build_fail(&r->b, BIDE_ENOMEM);
        return NULL;
    }
    return node;
}

/* ===== lists and maps ===== */

static bool read_member(struct bide__json_in *r, struct bide__node *parent,
                        unsigned depth)
{
    struct bide__node *key = NULL, *value;

    skip_space(r);
    if (parent->kind == BIDE__MAP) {
        if (bide__json_peek_in(r) != '"')
            return bide__json_refuse(
                r, bide__json_here(r), "a key in double quotes",
                bide__json_peek_in(r) == '}' ? "take out the comma before this"
                                             : NULL);
        key = read_string(r, depth + 1);
        skip_space(r);
        if (!key)
            return false;
        if (!bide__json_take_in(r, ':'))
            return bide__json_refuse(r, bide__json_here(r), "`:`", NULL);
    }
    value = read_value(r, depth + 1);
    return value && bide__build_add(&r->b, parent, key, value, depth);
}

static bool read_members(struct bide__json_in *r, struct bide__node *parent,
                         char close, unsigned depth)
{
    skip_space(r);
    if (bide__json_take_in(r, close))
        return true;
    do {
        if (!read_member(r, parent, depth))
            return false;
        skip_space(r);
    } while (bide__json_take_in(r, ','));
    return bide__json_take_in(r, close) ||
           bide__json_refuse(r, bide__json_here(r),
                             close == '}' ? "`,` or `}`" : "`,` or `]`", NULL);
}

static struct bide__node *read_group(struct bide__json_in *r,
                                     bide__node_kind kind, unsigned depth)
{
    struct bide__node *node =
        bide__build_node(&r->b, kind, bide__json_here(r), depth);

    if (!node)
        return NULL;
    bide__json_step(r);
    if (!read_members(r, node, kind == BIDE__MAP ? '}' : ']', depth))
        return NULL;
    node->mark.end_line = r->line;
    node->mark.end_column = r->column;
    if (kind == BIDE__MAP && !bide__build_map_done(&r->b, node))
        return NULL;
    return node;
}

static struct bide__node *read_value(struct bide__json_in *r, unsigned depth)
{
    skip_space(r);
    switch (bide__json_peek_in(r)) {
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

static void read_document(struct bide__json_in *r)
{
    skip_space(r);
    if (bide__json_peek_in(r) < 0)
        return; /* empty, which is for the caller to judge */
    r->b.tree->root = read_value(r, 1);
    skip_space(r);
    if (r->b.rc == 0 && bide__json_peek_in(r) >= 0)
        bide__json_refuse(r, bide__json_here(r), "the end", NULL);
}

int bide__tree_try_json(struct bide__tree **ret, bool *ret_mistaken,
                        const char *name, const char *text, size_t len,
                        bide_diagnostics *notes)
{
    struct bide__json_in r = { .line = 1, .column = 1 };
    int rc = bide__build_begin(&r.b, name, text, len, notes);

    if (!r.b.tree)
        return rc;
    r.at = r.b.tree->text;
    r.end = r.at + r.b.tree->len;
    if (rc == 0)
        read_document(&r);
    return bide__build_end(&r.b, ret, ret_mistaken);
}
