/* Limits on attempts: a cap on how many run at once, a rate that adapts to
 * throttling, and local refusal of what the server would refuse anyway. */
#ifndef BIDE_LIB_LIMIT_H
#define BIDE_LIB_LIMIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bide/outcome.h"
#include "bide/rng.h"
#include "lib/lane.h"
#include "lib/policy.h"

/* ===== in_flight ===== */

struct bide__places {
    _Atomic uint64_t used;
    _Atomic uint64_t queued;
};

bool bide__place_take(struct bide__places *places, uint32_t most);

/* Releases a place; true if a call is queueing for it. */
bool bide__place_give(struct bide__places *places);

bool bide__queue_join(struct bide__places *places, uint32_t most);
void bide__queue_leave(struct bide__places *places);

/* The queue length, and whether a place is free for any rank. */
uint64_t bide__queue_length(const struct bide__places *places);
bool bide__place_free(const struct bide__places *places, uint32_t most);

/* Whether a place is free and a call is queueing for one. */
bool bide__place_wanted(struct bide__places *places, uint32_t most);

/* ===== adaptive_rate =====
 *
 * A token bucket whose rate follows CUBIC: cut to beta = 0.7 of the sending
 * rate when the server throttles, then grown along scale * (t - K)^3 around the
 * rate at which that happened: slowly near it, and faster the farther away. Off
 * until the first throttled response.
 *
 * The rate is never stored. It is a function of the last cut, which is one
 * word, of the sending rate, which is another, and of the time; so threads that
 * change it need no lock, and readers never see half a change. */
struct bide__rate {
    _Atomic uint64_t cut;      /* time >> 20 (43 bits) | rate (21 bits); 0: none */
    _Atomic uint64_t sending;  /* half-second (40 bits) | attempts in it (24) */
    _Atomic uint64_t measured; /* half-second (32 bits) | rate (float, 32) */
    _Atomic int64_t next_ns;   /* when the bucket will have a token again */
};

/* Takes a token. Returns 0 if there is one now, otherwise the time at which
 * there will be, and reserves that one; -1 if that is later than `latest`, and
 * nothing is reserved. */
int64_t bide__rate_take(struct bide__rate *r, int64_t now, int64_t latest);

/* An attempt got a response. */
void bide__rate_report(struct bide__rate *r, bool throttled, int64_t now);

/* Begins as if it had just been cut to this rate; nobody uses it yet. */
void bide__rate_start(struct bide__rate *r, double rate, int64_t now);

/* Attempts per second that are allowed; infinite before the first cut. */
double bide__rate_allowed(const struct bide__rate *r, int64_t now);

/* ===== adaptive_throttle =====
 *
 * With the requests and accepts of the last two minutes, refuse with
 * probability max(0, (requests - K * accepts) / (requests + 1)). Refused
 * requests count as requests, so that refusal continues for as long as it has
 * to. */

/* Counts a request, and returns whether to refuse it. */
bool bide__throttle_refuses(struct bide__lane *lanes, struct bide__lane *lane,
                            const struct bide__policy *p, const bide_rng *rng,
                            int64_t now);

void bide__throttle_accepted(struct bide__lane *lane,
                             const struct bide__policy *p, int64_t now);

/* A request that began then says nothing about what the server accepts: it is
 * no longer counted. */
void bide__throttle_forget(struct bide__lane *lane,
                           const struct bide__policy *p, int64_t start_ns);

#endif
