/* proxy/grpc/grpc.h: what is different about gRPC: where a call says how it ended,
 * how long it may take, and what a refusal looks like.
 *
 * A gRPC call is a POST whose response is 200, whatever came of it. The status is
 * in the trailers, or in the head if there is nothing else. So an attempt is not
 * judged by its head: the head is held until the first message or the trailers
 * arrive, at most for `grpc.hold`, and only once the request is complete. Whoever
 * waits for the head in order to go on sending gets it at once.
 *
 *   request complete  head only        held: a failure may still be retried
 *                     first message    judged a success, and passed on
 *                     trailers         judged by grpc-status
 *   request open      head             judged a success, and passed on
 *
 * The request's messages go to the endpoint as they arrive, for a server may answer
 * the first before the client sends the second; up to limits.replay they are kept,
 * too, so that an attempt can be repeated.
 *
 * A client of gRPC never gets HTML: what an endpoint answers otherwise, and what
 * bide refuses, becomes a status by the table of gRPC ("HTTP to gRPC Status Code
 * Mapping"). Threads: owned. */
#ifndef BIDE_PROXY_GRPC_GRPC_H
#define BIDE_PROXY_GRPC_GRPC_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/outcome.h"

struct attempt;
struct exchange;
struct http1_head;
struct text;

enum { GRPC_NO_STATUS = -1 };

/* ===== grpc_request.c ===== */

/* Reads how long the call may take. False: that is malformed, and answered. */
bool grpc_begin(struct exchange *ex);

/* The fields of a request that are written again, a bit for each http1_id; and
 * writes them. */
uint64_t grpc_dropped(void);
void grpc_put(struct text *t, const struct attempt *a);

/* ===== grpc_status.c ===== */

/* The head of the response is there. */
void grpc_got_head(struct attempt *a);

/* The trailers are there, at `text`. */
void grpc_got_trailers(struct attempt *a, const char *text);

/* Whether it is too early to judge it. Sets how long to wait. */
bool grpc_holds(struct attempt *a);

/* It is over: counts how it ended. */
void grpc_count(const struct exchange *ex);

/* Completes what the engine classifies: `fields` has room for those of the
 * trailers, after the r->n_headers of the head. */
void grpc_describe(const struct attempt *a, bide_response *r,
                   bide_header *fields);

#endif
