/* The slow paths of a slab: adding a block, and freeing all of them. */
#include "sim/model/slab.h"

#include <stdlib.h>

#include "sim/model/memory.h"

enum { BLOCK = 1 << SIM_BLOCK_BITS };

/* The free list has room for all of them: leaving one never fails. */
static void add_block(struct sim_slab *s, size_t size)
{
    s->blocks = sim_grow(s->blocks, s->n_blocks, &s->room, sizeof *s->blocks);
    s->blocks[s->n_blocks++] = sim_store_take(&s->store, BLOCK * size);
    s->left = sim_resize(s->left, (size_t)s->n_blocks * BLOCK, sizeof *s->left);
}

uint32_t sim_slab_add(struct sim_slab *s, size_t size)
{
    if (s->n == s->n_blocks * BLOCK)
        add_block(s, size);
    return s->n++;
}

void sim_slab_done(struct sim_slab *s)
{
    sim_store_done(&s->store);
    free(s->blocks);
    free(s->left);
}
