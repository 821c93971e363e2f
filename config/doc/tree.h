/* A document as a tree in which every node knows its position.
 *
 * YAML comes from libyaml (yaml.c), JSON from our own reader
 * (base/json_read.h); both make this tree, so the code that reads a document
 * does not care which it was. Scalars stay text: the reader of a key interprets
 * them, and can then name the error. A tree owns all its memory (one arena) and
 * is freed at once.
 *
 * Hostile input is handled here, once: no policy needs deep nesting, so 100
 * levels are the limit; aliases are resolved to the same node, and all nodes
 * that a document expands to are counted, at most 1 000 000, which stops an
 * alias bomb; merge keys (<<) are not supported and are an error; so are
 * duplicate keys, and text that is not UTF-8. */
#ifndef BIDE_CONFIG_DOC_TREE_H
#define BIDE_CONFIG_DOC_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mark.h"
#include "bide/config.h"

typedef enum bide__node_kind {
    BIDE__SCALAR,
    BIDE__LIST,
    BIDE__MAP
} bide__node_kind;

struct bide__node {
    bide__node_kind kind;
    bool quoted;               /* a scalar in quotes: text, never a number */
    struct bide__mark mark;
    const char *text;          /* of a scalar; NUL-terminated, may hold NULs */
    size_t len;
    size_t n;                  /* members of a list or map */
    struct bide__node **keys;  /* of a map: scalars */
    struct bide__node **items; /* of a list, or the values of a map */
    unsigned *sorted;          /* of a larger map: its members by key */
    unsigned weight;           /* nodes that it unfolds to, itself included */
    unsigned height;           /* levels below it */
};

struct bide__tree {
    struct bide__node *root;   /* NULL: an empty document */
    const char *name;          /* of the file, for diagnostics */
    const char *text;          /* all of it, for excerpts */
    size_t len;
    struct bide__arena *arena;
};

enum { BIDE__MAX_LEVELS = 100, BIDE__MAX_NODES = 1000000 };

/* Parse a text, which is copied. BIDE_EPARSE with findings, BIDE_ENOMEM. */
int bide__tree_yaml(struct bide__tree **ret, const char *name, const char *text,
                    size_t len, bide_diagnostics *notes);
int bide__tree_json(struct bide__tree **ret, const char *name, const char *text,
                    size_t len, bide_diagnostics *notes);
void bide__tree_free(struct bide__tree *tree);

/* The same as bide__tree_json(), but a tree is given as well if its mistakes leave
 * it readable; *ret_mistaken then says that the document is to be refused in the
 * end. */
int bide__tree_try_json(struct bide__tree **ret, bool *ret_mistaken,
                        const char *name, const char *text, size_t len,
                        bide_diagnostics *notes);

/* The same for JSON if the name ends in ".json", and else for YAML; that the
 * document is to be refused shows only in the mistakes among the findings. */
int bide__tree_try(struct bide__tree **ret, const char *name, const char *text,
                   size_t len, bide_diagnostics *notes);

/* The value of a key of a map, or NULL; ret_key may be NULL. */
struct bide__node *bide__map_get(const struct bide__node *map, const char *key,
                                 struct bide__node **ret_key);

/* The index of a key of a map, or -1. */
long bide__map_find(const struct bide__node *map, const char *key);

/* Whether a scalar's text is this. */
bool bide__node_is(const struct bide__node *node, const char *text);

/* Whether there is nothing: no node, or an empty one without quotes, `~`, or
 * `null`. */
bool bide__node_empty(const struct bide__node *node);

/* "a list", "a map", "`text`": what was found, for messages. */
const char *bide__node_found(struct bide__tree *tree,
                             const struct bide__node *node);

#endif
