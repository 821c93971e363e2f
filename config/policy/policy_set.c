/* policy_set.c: `KEY=VALUE` as if it stood in a policy file.
 *
 * The two halves become nodes of a tree of one line, so that what reads and
 * refuses values in files does so here, in the same words. */
#include "config/policy/policy_set.h"

#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "config/field/option_value.h"
#include "config/field/read.h"
#include "config/policy/load.h"

enum { MAX_OPTIONS = 128 };

/* ===== the line ===== */

static unsigned characters(const char *text, size_t len)
{
    unsigned n = 0;
    uint32_t point;

    for (size_t at = 0; at < len; n++) {
        size_t bytes = bide__utf8_next(text + at, len - at, &point);

        at += bytes ? bytes : 1;
    }
    return n;
}

/* The part [from, to) of the line. */
static struct bide__node part(struct bide__load *load, size_t from, size_t to)
{
    const char *line = load->tree->text;
    unsigned column = 1 + characters(line, from);
    const char *text =
        bide__arena_printf(load->tree->arena, "%.*s", (int)(to - from),
                           line + from);

    load->no_memory = load->no_memory || !text;
    return (struct bide__node){
        .kind = BIDE__SCALAR,
        .mark = { 1, column, 1, column + characters(line + from, to - from) },
        .text = text ? text : "",
        .len = text ? to - from : 0,
    };
}

/* ===== keys ===== */

/* A group of options, or the last part of a key alone. */
static const char *key_help(struct bide__load *load,
                            const struct bide__node *key)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++) {
        const char *dot = strchr(options[i].key, '.');

        if (dot && bide__node_is(key, dot + 1))
            return bide__diag_text(load->notes, "did you mean `%s`?",
                                   options[i].key);
        if (dot && key->len == (size_t)(dot - options[i].key) &&
            strncmp(options[i].key, key->text, key->len) == 0)
            return bide__diag_text(load->notes,
                                   "it is a group: set one option of it, such "
                                   "as `%s`",
                                   options[i].key);
    }
    return NULL;
}

static void unknown(struct bide__load *load, const struct bide__node *key)
{
    const char *known[MAX_OPTIONS + 1];
    size_t n, i = 0;
    const bide_option *options = bide_policy_options(&n);

    for (; i < n && i < MAX_OPTIONS; i++)
        known[i] = options[i].key;
    known[i] = NULL;
    bide__unknown_key(load, key, known, key_help(load, key));
}

/* ===== values ===== */

/* `hedge.after=p95` says two things in one. */
static bool is_percentile(const bide_option *o, const struct bide__node *value)
{
    return strcmp(o->key, "hedge.after") == 0 &&
           bide__parse_percentile(value->text, value->len) >= 0;
}

static const bide_option *set(struct bide__load *load, bide_policy_conf *conf,
                              const struct bide__node *key,
                              const struct bide__node *value)
{
    const bide_option *o = bide__option_find(key->text, key->len);

    if (!o) {
        unknown(load, key);
        return NULL;
    }
    if (is_percentile(o, value) &&
        bide__option_set(conf, o->key, value->text, value->len) == 0)
        return o;
    struct bide__field f = bide__option_field(o);
    return bide__read_value(load, &f, key, value, conf) ? o : NULL;
}

const bide_option *bide__policy_set(bide_policy_conf *conf, const char *from,
                                    const char *line, bide_diagnostics *notes,
                                    const char **ret_value)
{
    struct bide__tree tree = { .name = from,
                               .text = line,
                               .len = strlen(line),
                               .arena = bide__arena_new() };
    struct bide__load load = { .tree = &tree, .notes = notes };
    size_t equals = strcspn(line, "=");
    const bide_option *o = NULL;

    if (!tree.arena)
        return NULL;
    struct bide__node key = part(&load, 0, equals);
    if (line[equals] != '=' || equals == 0) {
        bide__mistake(&load, &key, "syntax",
                      "write `KEY=VALUE`, such as `budget.capacity=5`",
                      "expected a key and its value; found no `%s`",
                      equals == 0 ? "KEY" : "=");
    } else {
        struct bide__node value = part(&load, equals + 1, tree.len);
        o = load.no_memory ? NULL : set(&load, conf, &key, &value);
        if (ret_value)
            *ret_value = line + equals + 1;
    }
    bide__arena_free(tree.arena);
    return o;
}
