/* proxy/exchange/answer.h: passing an answer on.
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

#include <stdbool.h>
#include <stddef.h>

#include "proxy/exchange/attempt.h"

/* ===== answer.c ===== */

/* Begins to pass on the winner's answer. */
void answer_begin(struct exchange *ex);

/* Counts an answer, and from now on it is being sent. */
void answer_count(struct exchange *ex, int status);

/* Passes an interim answer (1xx) on. */
void answer_interim(struct attempt *a);

/* Sends one, unless another has not been taken yet: then there is no need for
 * it. And sends on, when the client may take more. */
void interim_send(struct exchange *ex, const char *text, size_t len);
void interim_flush(struct exchange *ex);

/* Whether the client knows the end of the answer by that of its connection. */
static inline bool answer_ends_by_closing(const struct attempt *a)
{
    return a->pass == PASS_UNCHUNKED ||
           (a->pass == PASS_AS_IT_IS && a->resp.framing == HTTP1_UNTIL_CLOSE);
}

/* ===== answer_pass.c ===== */

/* Passes on what there is. */
void answer_pump(struct exchange *ex);

/* The winner's answer broke off. */
void answer_broken(struct exchange *ex);

/* The client has not taken what there is for a while. */
void answer_slow(struct exchange *ex);

#endif
