/* Luck: every random number of a simulation is a function of what it is for.
 *
 *     uint64_t word = sim_luck_word(seed, client, call,
 *                                   sim_luck_what(SIM_LUCK_SERVICE, id, attempt));
 *
 * No generator is stepped, so nothing depends on the order of events: the fifth
 * call of client 7 has the same service time under every policy, and a
 * difference between two policies is due to them. */
#ifndef BIDE_SIM_MODEL_LUCK_H
#define BIDE_SIM_MODEL_LUCK_H

#include <stdint.h>

#include "bide/rng.h"

/* What a draw is for. */
enum sim_luck_use {
    SIM_LUCK_ENGINE,  /* what the engine draws: jitter, throttling */
    SIM_LUCK_SERVICE, /* how long an attempt is worked on */
    SIM_LUCK_ERROR,   /* whether it fails */
    SIM_LUCK_ARRIVAL, /* when the next call comes ... */
    SIM_LUCK_CLIENT,  /* ... and whose it is */
    SIM_LUCK_NETWORK, /* how long a message travels */
    SIM_LUCK_OTHER,
    SIM_LUCK_LOSS,    /* whether an answer is lost */
    SIM_LUCK_SERVER   /* which server an attempt goes to */
};

/* Packs the last word of the key: the use, the part of the model (a service, a
 * fleet; under 2^16) and the attempt. */
static inline uint64_t sim_luck_what(enum sim_luck_use use, uint32_t part,
                                     uint32_t attempt)
{
    return (uint64_t)use << 48 | (uint64_t)part << 32 | attempt;
}

/* bide_rng_hash(), word for word, but inline: every event uses it. test_dist.c
 * compares the two. */
static inline uint64_t sim_luck_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t sim_luck_word(uint64_t seed, uint64_t client,
                                     uint64_t call, uint64_t what)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = sim_luck_mix(seed + golden);
    h = sim_luck_mix(h ^ (client + golden));
    h = sim_luck_mix(h ^ (call + golden));
    return sim_luck_mix(h ^ (what + golden));
}

/* A double in (0, 1), both ends excluded, from a word. */
static inline double sim_luck_unit(uint64_t word)
{
    return ((double)(word >> 12) + 0.5) * 0x1p-52;
}

/* Several draws for one thing differ above the use. */
enum { SIM_LUCK_DRAWS = 51 };

/* A generator that a call may hand to the engine (bide_op.rng). The driver sets
 * `attempt` before it asks; `draw` distinguishes several draws for one attempt.
 * Threads: owned. */
struct sim_luck {
    uint64_t seed, client, call;
    uint32_t attempt;
    uint16_t part; /* of the model: the one that calls */
    uint16_t draw;
};

bide_rng sim_luck_rng(struct sim_luck *luck);

#endif
