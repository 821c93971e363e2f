/* store/sqlite/open.h: opening a database and closing it, `open` and `close` of the
 * kind. */
#ifndef BIDE_STORE_SQLITE_OPEN_H
#define BIDE_STORE_SQLITE_OPEN_H

#include "store/kind.h"

int bide__sqlite_open(void **ret, const struct bide__store_setup *setup,
                      char *why, size_t why_size);
void bide__sqlite_close(void *self);

#endif
