/* store/table.h: a hash table by text, for the memory store.
 *
 *     struct thing {
 *         struct bide__store_item item;
 *         int n;
 *     } *thing;
 *     struct bide__store_table table = { 0 };
 *     if (!bide__store_table_put(&table, &thing->item))
 *         ...                                     // out of memory
 *     struct bide__store_item *found =
 *         bide__store_table_find(&table, "10.0.0.7", 8);
 *     bide__store_table_remove(&table, found);
 *     bide__store_table_done(&table);             // the items are the caller's
 *
 * Chains, doubled when there are as many items as chains. SipHash is not needed:
 * each table has its own random seed. */
#ifndef BIDE_STORE_TABLE_H
#define BIDE_STORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bide__store_item {
    struct bide__store_item *next;
    uint64_t hash;
    const char *text; /* the owner's memory */
    size_t len;
};

/* All zero is an empty table. Threads: owned. */
struct bide__store_table {
    struct bide__store_item **chains;
    size_t n_chains; /* a power of two, or 0 */
    size_t n;
    uint64_t seed;
};

struct bide__store_item *
bide__store_table_find(const struct bide__store_table *table, const char *text,
                       size_t len);

/* False: out of memory. There must be none of that text yet. */
bool bide__store_table_put(struct bide__store_table *table,
                           struct bide__store_item *item);

void bide__store_table_remove(struct bide__store_table *table,
                              struct bide__store_item *item);

void bide__store_table_done(struct bide__store_table *table);

#endif
