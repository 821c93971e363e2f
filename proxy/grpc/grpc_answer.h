/* proxy/grpc/grpc_answer.h: what a client of gRPC gets that no gRPC server said: trailers
 * only, with a status and a message. */
#ifndef BIDE_PROXY_GRPC_GRPC_ANSWER_H
#define BIDE_PROXY_GRPC_GRPC_ANSWER_H

#include <stdbool.h>

struct attempt;
struct exchange;
struct own_answer;
struct text;

/* Whether a response can be passed on to a client of gRPC; otherwise answers in its
 * place. */
bool grpc_fits(const struct attempt *a);
void grpc_answer_instead(struct exchange *ex, const struct attempt *a);

/* Whether the response that is passed on has ended without a status; and that the last
 * that the client gets is one: UNKNOWN, or UNAVAILABLE if it broke off. False: there is
 * no place for it. */
bool grpc_lacks_status(const struct attempt *a);
bool grpc_conclude(struct attempt *a);

/* The head of a response of our own, trailers only. */
void grpc_put_answer(struct text *t, struct exchange *ex,
                     const struct own_answer *a);

/* The call ended as not_idempotent: says once which line of the configuration would
 * have it retried. */
void grpc_advise(const struct exchange *ex);

#endif
