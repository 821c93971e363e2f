/* proxy/exchange/request.h: what a request specifies: its route, its operation,
 * its priority (priority.c). */
#ifndef BIDE_PROXY_EXCHANGE_REQUEST_H
#define BIDE_PROXY_EXCHANGE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

struct exchange;

/* The head of the request has been read, in client->in. */
void exchange_begin(struct exchange *ex);

/* Generates an idempotency key for it, if it needs one and the policy says
 * so. */
void exchange_make_key(struct exchange *ex);

/* Its id, received or generated; NULL: it has none. */
const char *exchange_request_id(const struct exchange *ex, size_t *ret_len);

/* ===== priority.c ===== */

/* The priority that the request asks for, for bide_op. */
int8_t priority_of(const struct exchange *ex);

#endif
