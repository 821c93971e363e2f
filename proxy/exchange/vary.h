/* proxy/exchange/vary.h: the fields of a request that a copy of its answer depends on
 * (RFC 9110, 12.5.5), as the endpoint saw them. Threads: owned. */
#ifndef BIDE_PROXY_EXCHANGE_VARY_H
#define BIDE_PROXY_EXCHANGE_VARY_H

#include <stdbool.h>

#include "proxy/exchange/stale.h"
#include "proxy/exchange/text.h"

struct attempt;
struct exchange;

/* Writes what the response depends on, a line for each field. False: it depends
 * on more than what clients send, or on too much. */
bool vary_write(struct text *t, const struct attempt *a);

/* The request has the same in all fields that the copy depends on. */
bool vary_fits(const struct stale_copy *c, const struct exchange *ex);

#endif
