/* proxy/exchange/answer.h: streaming a response to the client.
 *
 *   the endpoint --answer_read--> winner->in --answer_pass--> the client
 *                                      \--answer_hold--> held --/
 *
 * A client that keeps up gets the response from the buffer it was read into.
 * While it falls behind, the endpoint is still read, and what no longer fits is
 * held in further buffers, up to limits.answer_buffer. Once the whole response
 * has arrived, the connection to the endpoint is free.
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_EXCHANGE_ANSWER_H
#define BIDE_PROXY_EXCHANGE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "proxy/exchange/attempt.h"

/* ===== answer.c ===== */

/* Begins to stream the winner's response. */
void answer_begin(struct exchange *ex);

/* Counts a response, which is now being sent. */
void answer_count(struct exchange *ex, int status);

/* Passes on an interim response (1xx). */
void answer_interim(struct attempt *a);

/* Sends one, unless the previous one is still unsent: then it is not needed.
 * And continues, when the client can take more. */
void interim_send(struct exchange *ex, const char *text, size_t len);
void interim_flush(struct exchange *ex);

/* Whether the end of the response is that of the client's connection. */
static inline bool answer_ends_by_closing(const struct attempt *a)
{
    return a->pass == PASS_UNCHUNKED ||
           (a->pass == PASS_AS_IT_IS && a->resp.framing == HTTP1_UNTIL_CLOSE);
}

/* ===== answer_pass.c ===== */

/* Sends what there is. */
void answer_pump(struct exchange *ex);

/* The winner's response broke off. */
void answer_broken(struct exchange *ex);

/* The client has not read for a while. */
void answer_slow(struct exchange *ex);

#endif
