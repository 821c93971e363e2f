/* Maps and their values, read by tables (read.c, read_value.c). */
#ifndef BIDE_CONFIG_FIELD_READ_H
#define BIDE_CONFIG_FIELD_READ_H

#include "config/field/field.h"

/* Reads a map into a struct that holds its defaults. */
void bide__read_fields(struct bide__load *load, const struct bide__table *table,
                       const struct bide__node *where,
                       const struct bide__node *map, void *to);

/* Reads one value, of whatever type; one that text can say; false after a
 * mistake. */
void bide__read_field(struct bide__load *load, const struct bide__field *f,
                      const struct bide__node *key,
                      const struct bide__node *node, void *to);
bool bide__read_value(struct bide__load *load, const struct bide__field *f,
                      const struct bide__node *key,
                      const struct bide__node *node, void *to);

/* "`key`: expected ..., found ..."; of f->expects if expected is NULL. */
void bide__wrong_field(struct bide__load *load, const struct bide__field *f,
                       const struct bide__node *key,
                       const struct bide__node *node, const char *expected,
                       const char *help);

/* Whether a node is a text that is not empty and holds no NUL. */
bool bide__is_text(const struct bide__node *node);

/* The members of a list; anything else is its only member. */
size_t bide__member_count(const struct bide__node *node);
const struct bide__node *bide__member(const struct bide__node *node, size_t i);

#endif
