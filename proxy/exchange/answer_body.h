/* proxy/exchange/answer_body.h: the body of a response on its way from the
 * endpoint to the client: read, and buffered while the client falls behind. */
#ifndef BIDE_PROXY_EXCHANGE_ANSWER_BODY_H
#define BIDE_PROXY_EXCHANGE_ANSWER_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

struct attempt;
struct exchange;

/* ===== answer_hold.c ===== */

/* What the client gets next, in order: interim responses, the head, what is
 * held, what was read last. */
enum { ANSWER_PIECES = 16 };
int answer_pieces(const struct exchange *ex, struct iovec iov[ANSWER_PIECES]);

/* This many bytes of it have been sent. */
void answer_left(struct exchange *ex, size_t n);

/* Appends what was read to what is held, to make room for more. False: the
 * limit is reached. */
bool answer_hold(struct exchange *ex);

/* Discards what is held. */
void answer_drop(struct exchange *ex);

/* ===== answer_read.c ===== */

/* Frames the beginning of the body after its head has been removed. */
void answer_frame(struct attempt *a);

/* Reads more of the body: true if there is something new to send, or the end.
 * Otherwise the exchange may be gone. */
bool answer_read(struct exchange *ex);

/* Continues reading while the client takes nothing, and releases the endpoint's
 * connection when nothing more will come from it. The exchange may be gone. */
void answer_read_ahead(struct exchange *ex);

#endif
