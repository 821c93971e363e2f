/* proxy/back/balance.h: load balancing: which endpoint an attempt goes to. */
#ifndef BIDE_PROXY_BACK_BALANCE_H
#define BIDE_PROXY_BACK_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/bide.h"

struct endpoint;
struct upstream;

/* Chooses an endpoint for an attempt by worker `w`: of two drawn at random, the
 * less busy one; not one of `tried` (bits), if there is another; not an ejected
 * one, unless too many are; none on probation if it must be `sure`. Begins
 * `permit` on the endpoint's breaker; *ret_held says whether it is held, and
 * must be ended. NULL: there is none. */
struct endpoint *endpoint_choose(struct upstream *u, unsigned w, uint64_t tried,
                                 bool sure, uint64_t *random, int64_t now_ns,
                                 bide_call *permit, bool *ret_held);

/* Whether an endpoint is in use, so that an attempt that found nobody at its own
 * may be made again at once. */
bool endpoint_elsewhere(const struct upstream *u);

#endif
