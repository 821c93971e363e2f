/* bide/rng.h: sources of randomness, and unbiased draws from them.
 *
 *     bide_rng_seeded mine;
 *     bide_rng rng = bide_rng_seed(&mine, 42);       // the same draws each run
 *     int64_t wait = bide_rng_between(&rng, 0, 250); // 0 and 250 included
 *
 * A dependency has its own generator, seeded from the kernel, so most programs
 * never need this header. Tests and simulators pass one in, to repeat the same
 * draws. */
#ifndef BIDE_RNG_H
#define BIDE_RNG_H

#include <stdint.h>

#include "version.h"

BIDE_BEGIN_DECLS

/* A source of 64 random bits at a time. `next` must not block; it is called
 * only from inside the bide function that was given the generator.
 * Threads: as `next` is. */
typedef struct bide_rng {
    uint64_t (*next)(void *state);
    void *state;
} bide_rng;

/* The state of a seeded generator (SplitMix64). Threads: owned. */
typedef struct bide_rng_seeded {
    uint64_t counter;
} bide_rng_seeded;

/* Starts a generator whose draws depend on `seed` alone. `state` is the
 * caller's memory and must outlive the generator. */
BIDE_API bide_rng bide_rng_seed(bide_rng_seeded *state, uint64_t seed);

/* Draws an integer in [lo, hi], each equally likely, both ends inclusive.
 * Returns lo if hi is less than lo. */
BIDE_API int64_t bide_rng_between(const bide_rng *rng, int64_t lo, int64_t hi);

/* Draws a double in [0, 1), each of its 2^53 values equally likely. */
BIDE_API double bide_rng_unit(const bide_rng *rng);

/* Hashes four words into one that looks random. Serves as a generator without
 * state: the same (seed, client, call, attempt) always gives the same draw. */
BIDE_API uint64_t bide_rng_hash(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

BIDE_END_DECLS
#endif
