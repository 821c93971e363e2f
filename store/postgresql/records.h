/* store/postgresql/records.h: batches of operations: the `run` of kind.h. */
#ifndef BIDE_STORE_POSTGRESQL_RECORDS_H
#define BIDE_STORE_POSTGRESQL_RECORDS_H

#include "bide/store.h"

int pg_store_run(void *self, bide_store_op *const ops[], size_t n, char *why,
                 size_t why_size);

#endif
