/* import.c: what the importers share. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "config/doc/diag.h"
#include "config/policy/retry_set.h"
#include "config/policy/write_policy.h"
#include "config/translate/import.h"
#include "config/translate/translate.h"

/* Names are compared pairwise, and each finding copies its line: these limits
 * stop hostile documents. */
enum { MAX_POLICIES = 1000, MAX_WARNINGS = 500, MAX_MISTAKES = 100 };

int bide__import_init(struct bide__import *im, bide_diagnostics *notes)
{
    const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;

    *im = (struct bide__import){ .notes = notes };
    bide__retry_set_of(&im->usual, &defaults, NULL);
    im->arena = bide__arena_new();
    return im->arena ? 0 : BIDE_ENOMEM;
}

void bide__import_done(struct bide__import *im)
{
    bide__arena_free(im->arena);
    free(im->policies);
    *im = (struct bide__import){ .n = 0 };
}

/* ===== findings ===== */

/* Whether another finding may be added; the last one says that it is the
 * last. */
static bool may_tell(struct bide__import *im, const struct bide__node *node,
                     bide_severity severity)
{
    bool mistake = severity == BIDE_MISTAKE;
    unsigned n = mistake ? ++im->n_mistakes : ++im->n_warnings;
    unsigned max = mistake ? MAX_MISTAKES : MAX_WARNINGS;

    if (n == max + 1)
        bide__diag(im->notes, im->tree, node, severity, "too-many-findings",
                   NULL, "more of this kind from here on are not listed");
    return n <= max;
}

static void tell(struct bide__import *im, const struct bide__node *node,
                 bide_severity severity, const char *help, const char *format,
                 va_list args)
{
    const char *text;

    if (!may_tell(im, node, severity))
        return;
    text = bide__arena_vprintf(im->arena, format, args);
    im->no_memory = im->no_memory || !text;
    bide__diag(im->notes, im->tree, node, severity,
               severity == BIDE_MISTAKE ? "import" : "not-translated", help,
               "%s", text ? text : "");
}

void bide__import_mistake(struct bide__import *im,
                          const struct bide__node *node, const char *help,
                          const char *message, ...)
{
    va_list args;

    im->mistaken = true;
    va_start(args, message);
    tell(im, node, BIDE_MISTAKE, help, message, args);
    va_end(args);
}

void bide__import_warn(struct bide__import *im, const struct bide__node *node,
                       const char *message, ...)
{
    va_list args;

    va_start(args, message);
    tell(im, node, BIDE_WARNING, NULL, message, args);
    va_end(args);
}

bool bide__import_refuse(struct bide__import *im, const struct bide__node *node,
                         const char *expected)
{
    bide__import_mistake(im, node, NULL, "expected %s, not %s", expected,
                         bide__node_found(im->tree, node));
    return false;
}

/* ===== policies ===== */

static bool is_taken(const struct bide__import *im, const char *name)
{
    for (size_t i = 0; i < im->n; i++)
        if (strcmp(im->policies[i].name, name) == 0)
            return true;
    return false;
}

/* Makes room for one more. The policies are one array, for the writer, and so
 * not in the arena. */
static bool grow(struct bide__import *im)
{
    size_t room = im->room ? im->room * 2 : 8;
    struct bide__named_policy *larger;

    if (im->n < im->room)
        return true;
    larger = realloc(im->policies, room * sizeof *larger);
    if (!larger) {
        im->no_memory = true;
        return false;
    }
    im->policies = larger;
    im->room = room;
    return true;
}

struct bide__named_policy *bide__import_add(struct bide__import *im,
                                            const struct bide__node *node,
                                            const char *name)
{
    const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;
    const char *unique = bide__arena_copy(im->arena, name, strlen(name));
    struct bide__named_policy *p;

    if (im->n == MAX_POLICIES) {
        if (!im->too_many)
            bide__import_mistake(im, node, "divide the document",
                                 "this makes more than %d policies",
                                 MAX_POLICIES);
        im->too_many = true;
        return NULL;
    }
    for (size_t i = im->n + 1; unique && is_taken(im, unique); i++)
        unique = bide__arena_printf(im->arena, "%s-%zu", name, i);
    im->no_memory = im->no_memory || !unique;
    if (!unique || !grow(im))
        return NULL;
    p = &im->policies[im->n++];
    memset(p, 0, sizeof *p);
    p->name = unique;
    p->conf = defaults;
    p->has_retry_on = true;
    p->retried = im->usual;
    return p;
}

void bide__import_comment(struct bide__named_policy *p, const char *key,
                          const char *text)
{
    int i = 0;

    while (i < p->n_comments && strcmp(p->comments[i].key, key) != 0)
        i++;
    if (i == (int)(sizeof p->comments / sizeof p->comments[0]))
        return;
    p->comments[i] = (struct bide__comment){ key, text };
    if (i == p->n_comments)
        p->n_comments++;
}

/* What a policy does not use is not written: `bide check` would say so. */
static void drop_idle(struct bide__named_policy *p)
{
    const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;
    bide_policy_conf *c = &p->conf;

    if (c->attempts == 1) {
        c->backoff = defaults.backoff;
        c->retry_after.then = defaults.retry_after.then;
    }
    if (bide__tries_again(c))
        return;
    c->retry_after = defaults.retry_after;
    c->budget = defaults.budget;
    c->unreachable = defaults.unreachable;
}

/* Importers clip values that bide does not accept; this checks that none was
 * forgotten, before a user finds out. */
int bide__import_outcome(struct bide__import *im, const char *name)
{
    for (size_t i = 0; i < im->n; i++)
        drop_idle(&im->policies[i]);
    for (size_t i = 0; i < im->n && !im->mistaken && !im->no_memory; i++) {
        int rc = bide_policy_check(&im->policies[i].conf);

        if (rc == 0)
            continue;
        im->mistaken = true;
        bide__diag_at(im->notes, name, NULL, 0,
                      (struct bide__mark){ 0, 0, 0, 0 }, BIDE_MISTAKE, "import",
                      NULL, "policy `%s` would not be valid: %s",
                      im->policies[i].name, bide_strerror(rc));
    }
    return im->no_memory ? BIDE_ENOMEM : im->mistaken ? BIDE_EPARSE : 0;
}

/* ===== maps and lists ===== */

static void unknown(struct bide__import *im, const struct bide__node *key,
                    const struct bide__field *fields)
{
    const char *known[40];
    size_t n = 0;

    if (!may_tell(im, key, BIDE_WARNING))
        return;
    for (; fields[n].name && n < 39; n++)
        known[n] = fields[n].name;
    known[n] = NULL;
    bide__diag(im->notes, im->tree, key, BIDE_WARNING, "unknown-field",
               bide__did_you_mean(im->notes, key->text, known),
               "unknown field %s is left out", bide__node_found(im->tree, key));
}

static void read_field(struct bide__import *im,
                       const struct bide__field *fields, void *ctx,
                       struct bide__node *key, struct bide__node *value)
{
    const struct bide__field *f = fields;

    while (f->name && !bide__node_is(key, f->name))
        f++;
    if (!f->name)
        unknown(im, key, fields);
    else if (bide__node_empty(value))
        return;
    else if (f->read)
        f->read(im, ctx, key, value);
    else if (f->why)
        bide__import_warn(im, key, "`%s` is left out: %s", f->name, f->why);
}

void bide__import_map(struct bide__import *im, const struct bide__node *map,
                      const struct bide__field *fields, void *ctx)
{
    if (map->kind != BIDE__MAP) {
        bide__import_refuse(im, map, "a map");
        return;
    }
    for (size_t i = 0; i < map->n; i++)
        read_field(im, fields, ctx, map->keys[i], map->items[i]);
}

bool bide__import_list(struct bide__import *im, const struct bide__node *node)
{
    return node->kind == BIDE__LIST || bide__import_refuse(im, node, "a list");
}
