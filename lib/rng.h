/* The mixing function behind every generator of bide. */
#ifndef BIDE_LIB_RNG_H
#define BIDE_LIB_RNG_H

#include <stdint.h>

#include "bide/rng.h"

/* 2^64 / golden ratio: steps of it visit every word before one repeats. */
#define BIDE__GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* Turns neighbouring numbers into unrelated ones; a bijection. */
uint64_t bide__mix(uint64_t x);

#endif
