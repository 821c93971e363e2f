/* bide.h: retries with restraint. All of libbide in one include.
 *
 * Reading order: call.h (the three answers, and a loop to start from), policy.h
 * (every setting, with its default), outcome.h (what happened), dep.h (what is
 * shared), stats.h (the statistics), state.h (what a reload takes over). */
#ifndef BIDE_H
#define BIDE_H

#include "backoff.h"
#include "call.h"
#include "claim.h"
#include "dep.h"
#include "error.h"
#include "hint.h"
#include "outcome.h"
#include "policy.h"
#include "rng.h"
#include "state.h"
#include "stats.h"
#include "version.h"

#endif
