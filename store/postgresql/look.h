/* store/postgresql/look.h: counting, listing and removing: those of kind.h. */
#ifndef BIDE_STORE_POSTGRESQL_LOOK_H
#define BIDE_STORE_POSTGRESQL_LOOK_H

#include "store/kind.h"

int pg_store_sweep(void *self, int most, char *why, size_t why_size);
int pg_store_count(void *self, struct bide__store_count *ret, char *why,
                   size_t why_size);
int pg_store_list(void *self, const struct bide__store_query *query,
                  bide__store_row_fn fn, void *ctx, char *why,
                  size_t why_size);
int pg_store_purge(void *self, const struct bide__store_query *query,
                   uint64_t *removed, char *why, size_t why_size);

#endif
