/* proxy/exchange/attempt_io.h: what an attempt sends and reads. */
#ifndef BIDE_PROXY_EXCHANGE_ATTEMPT_IO_H
#define BIDE_PROXY_EXCHANGE_ATTEMPT_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attempt;
struct exchange;
struct net_buf;

/* ===== attempt_send.c ===== */

/* Sends what can be sent. */
void attempt_send(struct attempt *a);

/* The fields of the request that are not passed on, as bits; hop-by-hop ones
 * apart. */
uint64_t request_dropped(const struct exchange *ex);

/* Writes the request's head as the endpoint shall see it; false: too long. */
bool request_head_write(struct attempt *a, struct net_buf *to);

/* Makes it ready for an answer to its request. */
void attempt_expect(struct attempt *a);

/* ===== attempt_read.c ===== */

void attempt_read(struct attempt *a);

/* Takes this for its answer, head and body. */
void attempt_answer(struct attempt *a, const char *text, size_t len);

/* Looks at what came of the body: as far as it is whole and well-formed, it is
 * ready to be passed on. False: it is not. */
bool attempt_scan(struct attempt *a);

#endif
