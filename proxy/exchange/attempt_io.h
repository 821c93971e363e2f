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

/* The fields of the request that are not passed on, as bits; except hop-by-hop
 * ones. */
uint64_t request_dropped(const struct exchange *ex);

/* Writes the request's head for the endpoint; false: too long. */
bool request_head_write(struct attempt *a, struct net_buf *to);

/* Prepares to read a response to its request. */
void attempt_expect(struct attempt *a);

/* ===== attempt_read.c ===== */

void attempt_read(struct attempt *a);

/* Uses this as its response, head and body. */
void attempt_answer(struct attempt *a, const char *text, size_t len);

/* Examines what arrived of the body: as far as it is complete and well-formed,
 * it is ready to be passed on. False: it is malformed. */
bool attempt_scan(struct attempt *a);

/* Its time is over before the whole response has arrived: what there is
 * counts. */
void attempt_judge(struct attempt *a);

/* Whether its connection may be reused: the whole request was sent, the whole
 * response read, and nothing else. */
bool attempt_reusable(const struct attempt *a);

#endif
