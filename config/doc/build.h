/* Building a tree, with its limits: what the readers of YAML and JSON share. */
#ifndef BIDE_CONFIG_DOC_BUILD_H
#define BIDE_CONFIG_DOC_BUILD_H

#include <stdint.h>

#include "base/mark.h"
#include "config/doc/tree.h"


/* Threads: owned. */
struct bide__builder {
    struct bide__tree *tree;
    bide_diagnostics *notes; /* or NULL */
    size_t total;            /* nodes, aliases unfolded */
    int rc;                  /* set by what ends the reading; else 0 */
    bool mistaken;           /* there were errors, and reading continued */
};

/* Begins a tree with a copy of the text, without a byte order mark. Invalid
 * UTF-8 is an error. */
int bide__build_begin(struct bide__builder *b, const char *name,
                      const char *text, size_t len, bide_diagnostics *notes);

/* Returns the tree, or frees it and returns the error. A tree with errors that
 * did not end the reading is returned too; *ret_mistaken then says so. */
int bide__build_end(struct bide__builder *b, struct bide__tree **ret,
                    bool *ret_mistaken);

/* A node, counted; NULL if that is too many, too deep, or there is no memory.
 */
struct bide__node *bide__build_node(struct bide__builder *b,
                                    bide__node_kind kind,
                                    struct bide__mark mark, unsigned depth);

/* Adds a member; key is NULL in a list. False: no memory, or too deep. */
bool bide__build_add(struct bide__builder *b, struct bide__node *parent,
                     struct bide__node *key, struct bide__node *item,
                     unsigned depth);

/* Counts what an alias expands to. */
bool bide__build_count(struct bide__builder *b, const struct bide__node *node,
                       size_t more);

/* Looks for duplicate keys, once a map is complete. */
bool bide__build_map_done(struct bide__builder *b, struct bide__node *map);

/* Ends the reading. False, for the caller to pass on. */
bool bide__build_fail(struct bide__builder *b, int rc);

/* The order of keys: by bytes. */
int bide__key_order(const struct bide__node *a, const struct bide__node *b);

/* The place of a byte of a text, and of so many characters from there on. */
struct bide__mark bide__mark_of(const char *text, size_t len, size_t offset,
                                unsigned chars);

#endif
