/* Objects that come and go, identified by a number: calls in progress, requests
 * in a service.
 *
 *     struct sim_slab calls = { 0 };
 *     uint32_t i = sim_slab_take(&calls, sizeof(struct sim_call));
 *     struct sim_call *call = sim_slab_at(&calls, i, sizeof *call);
 *     sim_slab_leave(&calls, i);
 *     sim_slab_done(&calls);
 *
 * They are in blocks, each on its own cache lines if its size is a multiple of
 * that, and are never moved. An object is all zero when it is first taken, and
 * later as it was left. The one left last is taken first: it is the most likely
 * to be still in the cache. Threads: owned. */
#ifndef BIDE_SIM_MODEL_SLAB_H
#define BIDE_SIM_MODEL_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include "sim/model/store.h"

enum { SIM_BLOCK_BITS = 8 }; /* how many are in a block, as a power of 2 */

struct sim_slab {
    struct sim_store store;
    char **blocks;
    uint32_t *left; /* those to be reused, the last first */
    uint32_t n_left;
    uint32_t n; /* ever taken: numbers are below */
    uint32_t n_blocks, room;
};

void sim_slab_done(struct sim_slab *s);

/* For take(), if none is free: adds one. */
uint32_t sim_slab_add(struct sim_slab *s, size_t size);

static inline uint32_t sim_slab_take(struct sim_slab *s, size_t size)
{
    return s->n_left > 0 ? s->left[--s->n_left] : sim_slab_add(s, size);
}

static inline void sim_slab_leave(struct sim_slab *s, uint32_t i)
{
    s->left[s->n_left++] = i;
}

static inline void *sim_slab_at(const struct sim_slab *s, uint32_t i,
                                size_t size)
{
    return s->blocks[i >> SIM_BLOCK_BITS] +
           (i & ((1u << SIM_BLOCK_BITS) - 1)) * size;
}

/* For functions that only prefetch: gcc assumes that they do nothing, and drops
 * calls of them, unless they are inlined. */
#define SIM_FETCHES static inline __attribute__((always_inline))

/* Prefetches some cache lines of an object, for writing. Only for speed. No
 * loop: see above. */
SIM_FETCHES void sim_fetch_lines(const void *thing, int lines)
{
    __builtin_prefetch(thing, 1);
    if (lines > 1)
        __builtin_prefetch((const char *)thing + SIM_LINE, 1);
    if (lines > 2)
        __builtin_prefetch((const char *)thing + 2 * SIM_LINE, 1);
}

/* Prefetches those of the object that will be taken next. */
SIM_FETCHES void sim_slab_fetch_next(const struct sim_slab *s, size_t size,
                                     int lines)
{
    if (s->n_left > 0)
        sim_fetch_lines(sim_slab_at(s, s->left[s->n_left - 1], size), lines);
}

#endif
