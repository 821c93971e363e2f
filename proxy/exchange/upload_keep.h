/* proxy/exchange/upload_keep.h: the part of a request's body that is kept, and the
 * part that is streamed. */
#ifndef BIDE_PROXY_EXCHANGE_UPLOAD_KEEP_H
#define BIDE_PROXY_EXCHANGE_UPLOAD_KEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct exchange;
struct net_buf;

/* ===== upload_keep.c ===== */

/* Looks at what was read into b, which is kept. False: the exchange has ended.
 */
bool upload_take(struct exchange *ex, struct net_buf *b);

/* Reads until the body is complete, or the limit is reached; then the call
 * continues. */
void upload_keep(struct exchange *ex);

/* The response begins: what arrives from now on is for its endpoint alone. */
void upload_pass_on(struct exchange *ex);

/* The kept body from byte `from` on, as up to `max` pieces. */
int upload_pieces(const struct exchange *ex, uint64_t from, struct iovec *iov,
                  int max);

/* ===== upload_stream.c ===== */

/* From now on the body cannot be replayed. */
void upload_let_go(struct exchange *ex);

/* Reads the next piece, if the one before has been sent. */
void upload_stream(struct exchange *ex);

#endif
