/* store/redis/records/batch.h: batches of operations: the `run` of kind.h, and
 * what purging uses of it. */
#ifndef BIDE_STORE_REDIS_RECORDS_BATCH_H
#define BIDE_STORE_REDIS_RECORDS_BATCH_H

#include "store/redis/records/store.h"

int redis_store_run(void *self, bide_store_op *const ops[], size_t n,
                    char *why, size_t why_size);

/* Writes slots: that of struct bide__batch_io. */
int redis_store_write(void *self, struct bide__batch *batch,
                      struct bide__slot *const slots[], size_t n);

/* The name of a record's key, NUL-terminated. */
enum { REDIS_STORE_KEY = sizeof REDIS_STORE_NAME + 2 + 64 };
void redis_store_key(char to[REDIS_STORE_KEY], const uint8_t id[32]);

#endif
