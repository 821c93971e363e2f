/* Memory in large blocks, handed out from the front and freed together. */
#define _DEFAULT_SOURCE /* madvise() */
#include "sim/model/store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/model/memory.h"

enum {
    SMALL = 1 << 19, /* bytes of a block, of ... */
    FEW = 2,         /* ... so many; then ... */
    LARGE = 1 << 21  /* ... of one: a huge page, on most machines */
};

static void add_block(struct sim_store *s)
{
    size_t bytes = s->n_blocks < FEW ? SMALL : LARGE;
    s->blocks = sim_grow(s->blocks, s->n_blocks, &s->room, sizeof *s->blocks);
    s->at = s->blocks[s->n_blocks++] = sim_new_aligned(bytes);
    s->end = s->at + bytes;
#ifdef MADV_HUGEPAGE
    if (bytes == LARGE)
        madvise(s->at, bytes, MADV_HUGEPAGE); /* optional: only for speed */
#endif
}

void *sim_store_take(struct sim_store *s, size_t bytes)
{
    bytes = (bytes + SIM_LINE - 1) / SIM_LINE * SIM_LINE;
    if ((size_t)(s->end - s->at) < bytes)
        add_block(s);
    void *taken = s->at;
    s->at += bytes;
    return memset(taken, 0, bytes);
}

void sim_store_done(struct sim_store *s)
{
    for (uint32_t i = 0; i < s->n_blocks; i++)
        free(s->blocks[i]);
    free(s->blocks);
}
