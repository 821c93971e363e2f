/* Answers to gRPC calls that no gRPC server gave: trailers only, with a status and
 * a message. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "bide/bide.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/http1/media.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/route.h"
#include "proxy/exchange/text.h"
#include "proxy/back/service.h"
#include "proxy/back/upstream.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/grpc/grpc.h"
#include "proxy/grpc/grpc_answer.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

/* ===== which status ===== */

/* The table of gRPC, for answers of endpoints that do not speak it. */
static bide_grpc of_http(int status)
{
    switch (status) {
    case 400:
        return BIDE_GRPC_INTERNAL;
    case 401:
        return BIDE_GRPC_UNAUTHENTICATED;
    case 403:
        return BIDE_GRPC_PERMISSION_DENIED;
    case 404:
        return BIDE_GRPC_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
        return BIDE_GRPC_UNAVAILABLE;
    default:
        return BIDE_GRPC_UNKNOWN;
    }
}

/* Which refusals say that too much is going on at once; the others say that the
 * service cannot be reached just now. */
static bool is_cap(const struct own_answer *a)
{
    static const char *const caps[] = {
        "in_flight",     "local_throttle", "adaptive_rate", "rate",
        "shed_retry",    "shed_priority",  "memory",        "connection_wait",
        "client_limits", NULL
    };
    for (int i = 0; caps[i]; i++)
        if (strcmp(a->problem, caps[i]) == 0)
            return true;
    return false;
}

/* Ours says more than a status of HTTP does. */
static bide_grpc of_own(const struct own_answer *a)
{
    switch (a->status) {
    case 408:
        return BIDE_GRPC_CANCELLED;
    case 409:
        return BIDE_GRPC_ABORTED;
    case 413:
    case 429:
    case 431:
        return BIDE_GRPC_RESOURCE_EXHAUSTED;
    case 422:
        return BIDE_GRPC_INVALID_ARGUMENT;
    case 504:
        return BIDE_GRPC_DEADLINE_EXCEEDED;
    case 503:
        return a->problem && is_cap(a) ? BIDE_GRPC_RESOURCE_EXHAUSTED
                                       : BIDE_GRPC_UNAVAILABLE;
    default:
        return of_http(a->status);
    }
}

/* Of a call that was done before, with the same Idempotency-Key: its status was in
 * the trailers, which are not kept. */
static const char done_before[] =
    "done before: the answer of a gRPC call cannot be given again";

/* ===== the answer ===== */

/* As the specification has it: printable ASCII but %, the rest escaped. */
static void put_message(struct text *t, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (; text && *text; text++) {
        unsigned char c = (unsigned char)*text;
        char escaped[3] = { '%', digits[c >> 4], digits[c & 15] };
        if (c < 0x20 || c > 0x7e || c == '%')
            text_put(t, escaped, sizeof escaped);
        else
            text_put(t, text, 1);
    }
}

void grpc_put_answer(struct text *t, struct exchange *ex,
                     const struct own_answer *a)
{
    bide_grpc code = a->replayed      ? BIDE_GRPC_ALREADY_EXISTS
                     : a->grpc_status ? (bide_grpc)a->grpc_status
                                      : of_own(a);
    bool known = a->retry_ns != BIDE_FOREVER;
    if (a->status == 502 && ex->fault == BIDE_FAULT_TOO_LONG)
        code = BIDE_GRPC_RESOURCE_EXHAUSTED;
    ex->grpc_status = (int8_t)code;
    text_format(t, "Content-Type: application/grpc\r\nGrpc-Status: %d\r\n",
                (int)code);
    TEXT_LITERAL(t, "Grpc-Message: ");
    put_message(t, a->replayed ? done_before
                   : a->detail ? a->detail
                               : a->title);
    TEXT_LITERAL(t, "\r\n");
    if (a->refusal)
        text_format(t, "Grpc-Retry-Pushback-Ms: %lld\r\n",
                    known ? (long long)((a->retry_ns + BIDE_MILLISECOND - 1) /
                                        BIDE_MILLISECOND)
                          : -1LL);
    TEXT_LITERAL(t, "Content-Length: 0\r\n");
}

bool grpc_fits(const struct attempt *a)
{
    bool silent = attempt_is_complete(a) && !a->messages &&
                  a->grpc_status == GRPC_NO_STATUS;
    return a->resp.status == 200 && http1_is_grpc(&a->resp, net_buf_at(a->in)) &&
           !silent;
}

void grpc_answer_instead(struct exchange *ex, const struct attempt *a)
{
    char detail[64];
    struct text t = { detail, detail + sizeof detail - 1, false };
    text_format(&t, "the endpoint did not speak gRPC: HTTP status %u",
                (unsigned)a->resp.status);
    *t.at = '\0';
    own_answer(ex, &(struct own_answer){
                       .status = a->resp.status,
                       .problem = bide_reason_name((bide_reason)ex->reason),
                       .title = "not gRPC",
                       .detail = detail,
                       .grpc_status = (int)of_http(a->resp.status),
                       .retry_ns = BIDE_FOREVER });
}

/* ===== a response that ends without a status ===== */

static bool takes_trailers(const struct attempt *a)
{
    return a->ex->grpc && a->resp.framing == HTTP1_CHUNKED &&
           a->pass == PASS_AS_IT_IS;
}

bool grpc_lacks_status(const struct attempt *a)
{
    return takes_trailers(a) && attempt_is_complete(a) &&
           (a->messages || a->phase == ATTEMPT_PASSED_ON) &&
           a->grpc_status == GRPC_NO_STATUS;
}

/* All that came has been sent: the buffer is free. The trailers of a response without a
 * status are not among it (attempt_scan()), and are left out: trailers go in one piece. */
bool grpc_conclude(struct attempt *a)
{
    static const char silent[] =
        "grpc-status: 2\r\n"
        "grpc-message: the endpoint ended its answer without a status\r\n\r\n";
    static const char broken[] =
        "0\r\ngrpc-status: 14\r\n"
        "grpc-message: the endpoint's answer broke off\r\n\r\n";
    bool broke = a->end == END_LOST;
    struct net_buf *b = a->in;
    size_t len = broke ? sizeof broken - 1 : sizeof silent - 1;
    if (!takes_trailers(a) ||
        (broke && !http1_body_between_chunks(&a->body)))
        return false;
    memcpy(b->data, broke ? broken : silent, len);
    b->begin = 0;
    b->end = a->ready = a->scanned = (uint32_t)len;
    a->end = END_THERE;
    a->grpc_status = broke ? BIDE_GRPC_UNAVAILABLE : BIDE_GRPC_UNKNOWN;
    a->ex->grpc_status = a->grpc_status;
    return true;
}

/* ===== advice ===== */

void grpc_advise(const struct exchange *ex)
{
    struct proxy *p = ex->worker->proxy;
    char text[512];
    if (ex->grpc_status != BIDE_GRPC_UNAVAILABLE || !p->hooks.on_advice ||
        atomic_exchange(&p->advised, true))
        return;
    snprintf(text, sizeof text,
             "a gRPC call to `%s` ended with UNAVAILABLE and was not retried: "
             "it may have been processed. If it is safe to repeat, add to the "
             "policy `%s`: retry_on: { grpc: [UNAVAILABLE] }",
             ex->route->service->upstream->name,
             ex->route->service->policy_name);
    p->hooks.on_advice(p->hooks.ctx, text);
}
