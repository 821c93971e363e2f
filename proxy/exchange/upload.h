/* proxy/exchange/upload.h: the body of a request.
 *
 *   upload_begin --> upload_keep --all of it is there--> UPLOAD_NONE
 *                        \--the bound is reached--> upload_stream --> ...
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_EXCHANGE_UPLOAD_H
#define BIDE_PROXY_EXCHANGE_UPLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct exchange;
struct net_buf;

/* Begins with the body, whose first bytes may already be there. False: the
 * exchange has ended. */
bool upload_begin(struct exchange *ex);

/* Continues reading, as far as there is room. */
void upload_read(struct exchange *ex);

void upload_free(struct exchange *ex);

/* At the end: what was read after the body becomes the client's again. */
void upload_rest(struct exchange *ex);

/* ===== for the parts of it ===== */

/* Answers that there is no memory for it. */
void upload_refuse_memory(struct exchange *ex);

/* Examines the bytes of b from *at on. False: the exchange has ended. */
bool upload_scan(struct exchange *ex, struct net_buf *b, uint32_t *at);

/* Reads into b, no more than `most`. */
ssize_t upload_fill(struct exchange *ex, struct net_buf *b, uint64_t most);

/* Reading failed: ends the exchange. */
void upload_broken(struct exchange *ex);

/* Starts or stops the timer for the client. */
void upload_await_client(struct exchange *ex);
void upload_await_others(struct exchange *ex);

#endif
