/* YAML, read into trees (tree.h). */
#ifndef BIDE_CONFIG_DOC_YAML_H
#define BIDE_CONFIG_DOC_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "bide/config.h"

struct bide__tree;

/* As bide__tree_yaml(), but a tree is given as well if its mistakes leave it
 * readable (a key that comes twice, a tag): whoever goes on finds more of them in
 * one run. *ret_mistaken then says that the document is to be refused in the
 * end. */
int bide__tree_try_yaml(struct bide__tree **ret, bool *ret_mistaken,
                        const char *name, const char *text, size_t len,
                        bide_diagnostics *notes);

#endif
