/* A hash table by text: chains. */
#include "store/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bide/rng.h"

enum { FEWEST_CHAINS = 64 };

/* Eight bytes at a time through the mixer that the engine draws from; whoever
 * does not know the seed cannot aim at one chain. */
static uint64_t hash_of(uint64_t seed, const char *text, size_t len)
{
    uint64_t h = seed ^ len;
    while (len > 0) {
        uint64_t word = 0;
        size_t n = len < sizeof word ? len : sizeof word;
        memcpy(&word, text, n);
        h = bide_rng_hash(seed, h, word, n);
        text += n;
        len -= n;
    }
    return h;
}

static struct bide__store_item **chain_of(const struct bide__store_table *table,
                                          uint64_t hash)
{
    return &table->chains[hash & (table->n_chains - 1)];
}

struct bide__store_item *
bide__store_table_find(const struct bide__store_table *table, const char *text,
                       size_t len)
{
    if (table->n_chains == 0)
        return NULL;
    uint64_t hash = hash_of(table->seed, text, len);
    struct bide__store_item *item = *chain_of(table, hash);
    while (item && (item->hash != hash || item->len != len ||
                    memcmp(item->text, text, len) != 0))
        item = item->next;
    return item;
}

static bool grow(struct bide__store_table *table)
{
    size_t n = table->n_chains ? 2 * table->n_chains : FEWEST_CHAINS;
    struct bide__store_item **before = table->chains;
    size_t n_before = table->n_chains;
    struct bide__store_item **chains = calloc(n, sizeof *chains);
    if (!chains)
        return false;
    table->chains = chains;
    table->n_chains = n;
    for (size_t i = 0; i < n_before; i++) {
        for (struct bide__store_item *item = before[i], *next; item;
             item = next) {
            struct bide__store_item **chain = chain_of(table, item->hash);
            next = item->next;
            item->next = *chain;
            *chain = item;
        }
    }
    free(before);
    return true;
}

bool bide__store_table_put(struct bide__store_table *table,
                           struct bide__store_item *item)
{
    if (table->n_chains == 0 &&
        getrandom(&table->seed, sizeof table->seed, 0) < 0)
        return false;
    if (table->n >= table->n_chains && !grow(table) && table->n_chains == 0)
        return false;
    item->hash = hash_of(table->seed, item->text, item->len);
    struct bide__store_item **chain = chain_of(table, item->hash);
    item->next = *chain;
    *chain = item;
    table->n++;
    return true;
}

void bide__store_table_remove(struct bide__store_table *table,
                              struct bide__store_item *item)
{
    struct bide__store_item **at = chain_of(table, item->hash);
    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    table->n--;
}

void bide__store_table_done(struct bide__store_table *table)
{
    free(table->chains);
    *table = (struct bide__store_table){ 0 };
}
