/* Whether two structs hold the same, by their table. */
#ifndef BIDE_CONFIG_FIELD_SAME_H
#define BIDE_CONFIG_FIELD_SAME_H

#include "config/field/field.h"

/* Gives a field that is a number or a word the value that it has in `from`. */
void bide__field_copy(const struct bide__field *f, void *to, const void *from);

/* Whether two structs hold the same, key for key. */
bool bide__field_same(const struct bide__field *f, const void *a,
                      const void *b);
bool bide__fields_same(const struct bide__table *table, const void *a,
                       const void *b);

/* The first field that is `fixed` and not the same, as a path below the one
 * that is there: "proxy.limits.header_bytes". False if there is none. */
bool bide__fixed_differs(const struct bide__table *table, const void *a,
                         const void *b, char *path, size_t size);

/* A number that is the same for structs that are; `h` is what came before. */
uint64_t bide__fields_hash(uint64_t h, const struct bide__table *table,
                           const void *from);
uint64_t bide__field_hash(uint64_t h, const struct bide__field *f,
                          const void *from);

#endif
