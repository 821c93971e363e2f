/* cmd/store/cells.h: parts of a record as text. */
#ifndef BIDE_CMD_STORE_CELLS_H
#define BIDE_CMD_STORE_CELLS_H

#include "base/json.h"
#include "store/kind.h"

/* Text that a terminal does not obey: whatever is not plain ASCII becomes \xNN.
 * malloc; NULL: no memory. */
char *cell_text(const char *text);

/* "in progress", "done", "too large" or "unknown". */
const char *cell_state(const struct bide__store_row *row);

/* Until when it is what it is: the lease of what is in progress, else how long
 * the record is still kept. */
int64_t cell_left_ns(const struct bide__store_row *row);

/* "301 B", "1.2 MiB". */
const char *cell_size(uint64_t bytes, char *buffer, size_t size);

/* A duration in two units at most: "23h59m", "12s". */
const char *cell_age(int64_t ns, char *buffer, size_t size);

/* "2026-11-18T01:02:03Z" */
const char *cell_date(int64_t ns, char *buffer, size_t size);

/* The record as an object of JSON, in a list. */
void cell_json(struct bide__json *j, const struct bide__store_row *row);

#endif
