/* proxy/exchange/own_answer.h: responses that no endpoint sent. */
#ifndef BIDE_PROXY_EXCHANGE_OWN_ANSWER_H
#define BIDE_PROXY_EXCHANGE_OWN_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/bide.h"

struct exchange;

/* Responds instead of an endpoint. `problem` is a short name for machines,
 * `detail` a sentence. retry_ns: when to retry; FOREVER: unknown. */
struct own_answer {
    int status;
    const char *problem, *title, *detail;
    int grpc_status;  /* of an answer to gRPC; 0: by `status` and `problem` */
    bool refusal;     /* ours: a layer above must not retry it */
    int64_t retry_ns; /* in this time; FOREVER */

    /* Instead of problem details; it must live as long as the exchange. */
    const char *body; /* NULL: problem details */
    size_t body_len;
    const char *content_type;
    const char *lines; /* of the head, instead of content_type; or NULL */
    size_t lines_len;
    int64_t age_s;        /* where there are `lines` */
    const char *fallback; /* the kind of fallback that it is; or NULL */
    bool replayed; /* the answer of an earlier request with the same key:
                      `lines` and `body` */
};
void own_answer(struct exchange *ex, const struct own_answer *answer);

/* ... with only this. */
void own_answer_with(struct exchange *ex, int status, const char *problem,
                     const char *title, const char *detail);

/* ... for a call that ended without any response. */
void own_answer_for(struct exchange *ex, const bide_decision *d);

/* ... for a malformed request. */
void own_answer_malformed(struct exchange *ex, int rc);

#endif
