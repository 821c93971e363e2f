/* proxy/exchange/hops.h: how far a request may go.
 *
 *     if (!hops_allow(ex))
 *         return;                     // it was answered here
 *     ...
 *     hops_put(&text, ex);            // what the next hop is told
 *
 * Max-Forwards counts down (RFC 9110, 7.6.2). Via lists the hops so far
 * (7.6.3): a request that returns to the same process is in a loop. A request
 * with neither field costs a test of two bits.
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_EXCHANGE_HOPS_H
#define BIDE_PROXY_EXCHANGE_HOPS_H

#include <stdbool.h>
#include <stdint.h>

struct exchange;
struct proxy;
struct text;

/* Chooses the name of this process in Via: a different one each time, so that a
 * chain of sidecars is not taken for a loop. */
void hops_name(struct proxy *p);

/* Whether the request may continue; otherwise it has been responded to. */
bool hops_allow(struct exchange *ex);

/* Max-Forwards and Via, for the next hop. */
void hops_put(struct text *t, const struct exchange *ex);

/* Via, for the recipient of a message that came by this protocol. */
enum hops_by { HOPS_BY_HTTP10, HOPS_BY_HTTP11, HOPS_BY_HTTP2 };
void hops_put_via(struct text *t, const struct exchange *ex, enum hops_by by);

/* Fields of the request that are written again: a bit for each http1_id. */
uint64_t hops_dropped(const struct exchange *ex);

#endif
