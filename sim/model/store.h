/* Memory for many small objects that are all freed together.
 *
 *     struct sim_store store = { 0 };
 *     struct sim_piece *piece = sim_store_take(&store, sizeof *piece);
 *     sim_store_done(&store);
 *
 * What is taken is all zero and begins on a cache line. It comes from blocks:
 * small ones at first, since most simulations are small; then of the size of a
 * huge page, and on huge pages, if the system has them: data that is spread
 * over a hundred megabytes is then found faster. Threads: owned. */
#ifndef BIDE_SIM_MODEL_STORE_H
#define BIDE_SIM_MODEL_STORE_H

#include <stddef.h>
#include <stdint.h>

enum { SIM_LINE = 64 }; /* bytes of a cache line */

struct sim_store {
    char *at, *end; /* the rest of the last block */
    void **blocks;
    uint32_t n_blocks, room;
};

void sim_store_done(struct sim_store *s);

/* At most half a megabyte at a time. */
void *sim_store_take(struct sim_store *s, size_t bytes);

#endif
