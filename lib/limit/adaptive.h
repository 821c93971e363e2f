/* A cap on attempts at once that finds out what the dependency can take.
 *
 * A fixed cap is right for one size of a dependency. This one follows it, as TCP
 * follows a network, by one of two rules that Netflix published (concurrency-
 * limits: AIMDLimit and Gradient2Limit, with their constants):
 *
 *   aimd      a success at a cap that is at least half in use: one more;
 *             overload: a tenth less
 *   gradient  cap * slope + 4, smoothed by 0.2, where the slope is 1.5 times the
 *             long-term latency over that of this attempt, from 0.5 to 1: while
 *             latency does not rise, the cap does. Overload is a slope of 0.5
 *
 * Overload is an outcome that says so: throttled, overloaded, 503, or a timeout.
 * Successes are samples of latency. Other failures say nothing about load, as
 * they may be fast or slow for reasons of their own, and are left out.
 *
 * All of it is one word, changed by compare-and-swap:
 *
 *   long-term latency (float, 32 bits) | its samples, up to 10 (4) | cap (20.8)
 */
#ifndef BIDE_LIB_ADAPTIVE_H
#define BIDE_LIB_ADAPTIVE_H

#include <stdatomic.h>
#include <stdint.h>

#include "bide/outcome.h"
#include "bide/policy.h"

/* Threads: shared. */
struct bide__adaptive {
    _Atomic uint64_t word;
};

void bide__adaptive_init(struct bide__adaptive *a, const bide_limit_conf *conf);

/* The cap now. */
uint32_t bide__adaptive_limit(const struct bide__adaptive *a);

/* An attempt ended after `took`, with `in_flight` at once, itself included. */
void bide__adaptive_report(struct bide__adaptive *a,
                           const bide_limit_conf *conf, const bide_outcome *out,
                           int64_t took, uint64_t in_flight);

/* The long-term latency, for tests. */
int64_t bide__adaptive_latency(const struct bide__adaptive *a);

#endif
