/* store/sqlite/walk.h: many records at a time, `sweep`, `count`, `list` and `purge`
 * of the kind. */
#ifndef BIDE_STORE_SQLITE_WALK_H
#define BIDE_STORE_SQLITE_WALK_H

#include "store/kind.h"

int bide__sqlite_sweep(void *self, int most, char *why, size_t why_size);
int bide__sqlite_count(void *self, struct bide__store_count *ret, char *why,
                       size_t why_size);
int bide__sqlite_list(void *self, const struct bide__store_query *query,
                      bide__store_row_fn fn, void *ctx, char *why,
                      size_t why_size);
int bide__sqlite_purge(void *self, const struct bide__store_query *query,
                       uint64_t *removed, char *why, size_t why_size);

#endif
