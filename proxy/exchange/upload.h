/* proxy/exchange/upload.h: what the parts of a request's body share. Whoever else has to
 * do with it finds that in exchange.h.
 *
 *   upload_begin --> upload_keep --all of it is there--> UPLOAD_NONE
 *                        \--the bound is reached--> upload_stream --> ...
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_EXCHANGE_UPLOAD_H
#define BIDE_PROXY_EXCHANGE_UPLOAD_H

#include "proxy/exchange/exchange.h"

/* ===== upload.c ===== */

/* Looks at the bytes of b from *at on. False: the exchange has ended. */
bool upload_scan(struct exchange *ex, struct net_buf *b, uint32_t *at);

/* Reads into b, no more than `most`. */
ssize_t upload_fill(struct exchange *ex, struct net_buf *b, uint64_t most);

/* The client is waited for, and for so long; or it is not. */
void upload_await_client(struct exchange *ex);
void upload_await_others(struct exchange *ex);

/* ===== upload_keep.c ===== */

/* Looks at what was read into b, which is kept. False: the exchange has ended.
 */
bool upload_take(struct exchange *ex, struct net_buf *b);

/* Reads on until all is there, or as much as is to be kept; then the call goes
 * on. */
void upload_keep(struct exchange *ex);

/* ===== upload_stream.c ===== */

/* From now on there is no going back. */
void upload_let_go(struct exchange *ex);

/* Reads the next piece, if the one before has been sent. */
void upload_stream(struct exchange *ex);

#endif
