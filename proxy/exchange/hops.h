/* proxy/exchange/hops.h: how far a request may go.
 *
 *     if (!hops_allow(ex))
 *         return;                     // it was answered here
 *     ...
 *     hops_put(&text, ex);            // what the next hop is told
 *
 * Max-Forwards counts down (RFC 9110, 7.6.2). Via says who has had the request
 * already (7.6.3): one that comes back to the same process goes round in a
 * circle. A request that has neither field costs a look at two bits.
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_EXCHANGE_HOPS_H
#define BIDE_PROXY_EXCHANGE_HOPS_H

#include <stdbool.h>
#include <stdint.h>

struct exchange;
struct proxy;
struct text;

/* Chooses the name that a process has in Via: another each time, so that a
 * chain of sidecars is not taken for a circle. */
void hops_name(struct proxy *p);

/* Whether the request may go on; otherwise it has been answered. */
bool hops_allow(struct exchange *ex);

/* Max-Forwards and Via, for the next hop. */
void hops_put(struct text *t, const struct exchange *ex);

/* Via, for whoever is told of a message of HTTP/1.minor. */
void hops_put_via(struct text *t, const struct exchange *ex, unsigned minor);

/* Fields of the request that are written again: a bit for each http1_id. */
uint64_t hops_dropped(const struct exchange *ex);

#endif
