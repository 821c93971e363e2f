/* proxy/exchange/answer.h: what the parts of passing an answer on share. What others
 * need of it is in exchange.h.
 *
 *   the endpoint --answer_read--> winner->in --answer_pass--> the client
 *                                      \--answer_hold--> held --/
 *
 * A client that takes what comes gets it from the buffer it was read into.
 * While it takes less, the endpoint is read all the same, and what has no room
 * any more is held in further buffers, up to limits.answer_buffer. When all of
 * the answer is there, its connection to the endpoint is free.
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_EXCHANGE_ANSWER_H
#define BIDE_PROXY_EXCHANGE_ANSWER_H

#include "proxy/exchange/exchange.h"

/* ===== answer_hold.c ===== */

/* What the client is to get next, in order: interim answers, the head, what is
 * held, what has been read last. */
enum { ANSWER_PIECES = 16 };
int answer_pieces(const struct exchange *ex, struct iovec iov[ANSWER_PIECES]);

/* So many bytes of it have left. */
void answer_left(struct exchange *ex, size_t n);

/* Puts what was read behind what is held, so that there is room for more.
 * False: as much is held as may be. */
bool answer_hold(struct exchange *ex);

/* Throws away what is held. */
void answer_drop(struct exchange *ex);

/* ===== answer_read.c ===== */

/* Frames what there is of the body when its head has been taken off. */
void answer_frame(struct attempt *a);

/* Reads more of the body: true if there is something new to pass on, or the
 * end. Otherwise the exchange may be gone. */
bool answer_read(struct exchange *ex);

/* Reads on while the client takes nothing, and lets the endpoint's connection
 * go when nothing more will come of it. The exchange may be gone. */
void answer_read_ahead(struct exchange *ex);

#endif
