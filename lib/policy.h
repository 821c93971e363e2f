/* A policy as the engine uses it: the validated settings, and what can be
 * computed from them once instead of on every call. */
#ifndef BIDE_LIB_POLICY_H
#define BIDE_LIB_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/policy.h"
#include "lib/ns.h"

/* Shares and tokens are kept in millionths, as integers: 29 % of 100 is 29, not
 * the 28.999999999999996 of a double that a cast cuts to 28. */
#define BIDE__MILLION INT64_C(1000000)

static inline int64_t bide__millionths(double x)
{
    return (int64_t)(x * 1e6 + 0.5);
}

/* Which calls get a place in flight when places are short: the first are served
 * first, and the last are refused first. */
enum bide__rank {
    BIDE__RANK_HIGH,   /* by its priority */
    BIDE__RANK_NORMAL,
    BIDE__RANK_LOW,    /* by its priority; it never queues */
    BIDE__RANK_RETRY,  /* a layer above has tried before; never queues either */
    BIDE__N_RANKS
};

/* Threads: immutable. */
struct bide__policy {
    bide_policy_conf conf;

    struct bide__ticker deposit_ticks;
    struct bide__ticker spend_ticks;
    struct bide__ticker breaker_ticks;
    struct bide__ticker latency_ticks;
    struct bide__ticker throttle_ticks;
    struct bide__ticker hedge_ticks;
    struct bide__ticker hedge_spend_ticks;

    int64_t budget_floor;   /* retries a window; millionths, as all below */
    int64_t budget_ratio;
    int64_t max_tokens;
    int64_t token_ratio;
    int64_t failure_rate;
    int64_t slow_rate;
    int64_t probe_rate;
    int64_t extra_load;     /* or BIDE_FOREVER: as many as hedge.max allows */
    int64_t throttle_k;
    int64_t per_call;

    int64_t pace_ns;        /* between attempts, under limits.rate; 0: no rate */
    int64_t pace_burst_ns;  /* how far behind its time one may be: see pace.h */

    int64_t probe_ns;       /* a probe that is silent for this long is lost */
    uint32_t max_attempts;  /* including hedges */
    uint32_t places[BIDE__N_RANKS]; /* in flight, up to which each may fill */
    bool gated;             /* calls wait for a dependency nobody can reach */
    bool capped;            /* attempts at once have a cap, fixed or adaptive */
    bool plain;             /* only the usual features are used: attempt.c then
                               has a shorter path */
};

/* Computes the rest of a policy from its settings, which must be valid. The
 * rules are not copied: conf.rules stays unchanged. */
void bide__policy_init(struct bide__policy *p, const bide_policy_conf *conf);

/* Of `all` places in flight, those that a call of this rank may fill. */
uint32_t bide__policy_places(const bide_limit_conf *limits, uint32_t all,
                             enum bide__rank rank);

/* Copies settings that an older program may have passed: the fields that it does
 * not know have their defaults. */
void bide__policy_widen(bide_policy_conf *full, const bide_policy_conf *conf);

/* The key of row n of the options ("backoff.cap"), and the complete sentence
 * about an error in it; NULL if there is no such row. */
const char *bide__option_key(int n);
const char *bide__option_error(int n);

#endif
