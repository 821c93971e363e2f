/* The calls of a multi driver, by their easy handle: a hash table.
 * Threads: owned. */
#ifndef BIDE_CURL_TABLE_H
#define BIDE_CURL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "bide/curl.h"

struct bide__multi_call;

/* Calls by their easy handle. */
struct bide__table {
    struct bide__multi_call **slots;
    size_t n_slots; /* a power of 2 */
    size_t n;
};

bool bide__table_add(struct bide__table *t, struct bide__multi_call *mc);
struct bide__multi_call *bide__table_find(const struct bide__table *t,
                                          const CURL *easy);
void bide__table_remove(struct bide__table *t, struct bide__multi_call *mc);
void bide__table_free(struct bide__table *t);

#endif
