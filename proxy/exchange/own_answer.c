/* Responses that no endpoint sent: problem details (RFC 9457), with the reason
 * for machines and a sentence for people. */
#include "proxy/exchange/own_answer.h"

#include <stdio.h>
#include <string.h>

#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/http1/media.h"
#include "proxy/exchange/answer.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/hops.h"
#include "proxy/exchange/text.h"
#include "proxy/front/client.h"
#include "proxy/front/turn_away.h"
#include "proxy/generation.h"
#include "proxy/grpc/grpc_answer.h"
#include "proxy/once/apart.h"
#include "proxy/once/once.h"
#include "proxy/worker.h"

/* The unread part of the request cannot be told from the next one. */
static bool ends_connection(const struct exchange *ex)
{
    return ex->close_after || !ex->req.keep_alive || ex->worker->draining ||
           ex->upload != UPLOAD_NONE;
}

static size_t write_body(const struct exchange *ex, const struct own_answer *a,
                         char *body, size_t size)
{
    int n =
        snprintf(body, size,
                 "{\"type\":\"urn:bide:problem:%s\",\"title\":\"%s\","
                 "\"status\":%d,\"detail\":\"%s\",\"attempts\":%u%s}\n",
                 a->problem, a->title, a->status, a->detail,
                 (unsigned)ex->tries, a->refusal ? ",\"retryable\":false" : "");
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

/* What describes the body. */
static void put_kind(struct text *t, const struct exchange *ex,
                     const struct own_answer *a, size_t len)
{
    if (a->lines) {
        text_put(t, a->lines, a->lines_len);
        if (a->replayed)
            TEXT_LITERAL(t, "Idempotent-Replayed: true\r\n");
        else
            text_format(t, "Age: %lld\r\n", (long long)a->age_s);
        if (ex->generation->conf->forwarded.via)
            hops_put_via(t, ex, HOPS_BY_HTTP11);
    } else if (a->status != 204) {
        text_format(t, "Content-Type: %s\r\n",
                    a->body ? a->content_type : "application/problem+json");
    }
    bool unframed = a->status == 204 || a->status == 304 ||
                    (a->replayed && ex->req.method_id == HTTP1_HEAD);
    if (!unframed)
        text_format(t, "Content-Length: %zu\r\n", len);
    if (a->retry_ns != BIDE_FOREVER)
        text_format(t, "Retry-After: %lld\r\n",
                    (long long)(a->retry_ns / BIDE_SECOND +
                                (a->retry_ns % BIDE_SECOND != 0)));
}

static void put_head(struct text *t, struct exchange *ex,
                     const struct own_answer *a, size_t len)
{
    bool own = ex->worker->conf->headers.bide;
    if (ex->grpc)
        TEXT_LITERAL(t, "HTTP/1.1 200 OK\r\n");
    else
        text_format(t, "HTTP/1.1 %d %s\r\n", a->status, a->title);
    if (own)
        text_format(t, "X-Bide-Attempts: %u\r\n", (unsigned)ex->tries);
    if (own && a->problem)
        text_format(t, "X-Bide-Reason: %s\r\n", a->problem);
    if (a->fallback && own)
        text_format(t, "X-Bide-Fallback: %s\r\n", a->fallback);
    if (ex->grpc)
        grpc_put_answer(t, ex, a);
    else
        put_kind(t, ex, a, len);
    if (a->refusal && own)
        TEXT_LITERAL(t, "X-Bide-Retry: no\r\n");
    if (!a->fallback && !a->replayed && !ex->grpc &&
        (a->status == 405 || a->status == 204))
        TEXT_LITERAL(t,
                     "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n");
    if (ex->close_after)
        TEXT_LITERAL(t, "Connection: close\r\n");
    else if (ex->req.minor == 0)
        TEXT_LITERAL(t, "Connection: keep-alive\r\n");
    TEXT_LITERAL(t, "\r\n");
}

/* What fits into the socket, and no more; then it is over. */
static void answer_without_memory(struct exchange *ex)
{
    char text[TURN_AWAY];
    size_t n = turn_away_text(ex->worker->conf, "memory", "no memory", text);
    ex->problem = "memory";
    ex->close_after = true;
    ex->in_end = ex->client->in->end;
    if (!ex->interim) /* which has been begun */
        (void)!net_write(&ex->client->conn, text, n);
    answer_pump(ex);
}

void own_answer(struct exchange *ex, const struct own_answer *a)
{
    struct worker *w = ex->worker;
    char body[1024];
    size_t len = a->body ? a->body_len : write_body(ex, a, body, sizeof body);

    if (ex->once)
        ex = once_aside(ex);
    if (ex->phase == EXCHANGE_ANSWER) { /* another response has begun */
        exchange_cut(ex);
        return;
    }
    ex->close_after = ends_connection(ex);
    exchange_stop(ex, NULL);
    if (ex->once)
        once_end(ex->once);
    ex->todo = 0;
    ex->problem = a->problem;
    ex->client->phase = CLIENT_BUSY;
    if (ex->in_end < ex->client->in->begin + ex->req.head_len ||
        ex->close_after)
        ex->in_end = ex->client->in->end;
    if (!ex->out)
        ex->out = net_buf_take(&w->bufs);
    count(&w->counters.own_answers);
    answer_count(ex, !ex->out ? 503 : ex->grpc ? 200 : a->status);
    pace_stop(&ex->up, w->loop.now_ns);
    exchange_await(ex);
    if (!ex->out) {
        answer_without_memory(ex);
        return;
    }
    struct text t = text_in(ex->out);
    put_head(&t, ex, a, len);
    if (ex->req.method_id == HTTP1_HEAD || a->status == 204 || ex->grpc)
        len = 0;
    if (a->body)
        ex->tail = (struct iovec){ (void *)(uintptr_t)a->body, len };
    else
        text_put(&t, body, len);
    text_done(&t, ex->out);
    answer_pump(ex);
}

void own_answer_with(struct exchange *ex, int status, const char *problem,
                     const char *title, const char *detail)
{
    own_answer(ex, &(struct own_answer){ .status = status,
                                         .problem = problem,
                                         .title = title,
                                         .detail = detail,
                                         .retry_ns = BIDE_FOREVER });
}

void own_answer_malformed(struct exchange *ex, int rc)
{
    int status = http1_error_status(rc);
    ex->close_after = true;
    ex->reason = BIDE_BECAUSE_PERMANENT;
    if (status == 431) /* there is a beginning that makes sense */
        ex->grpc = http1_is_grpc(&ex->req, exchange_bytes(ex));
    own_answer(ex,
               &(struct own_answer){
                   .status = status,
                   .problem = http1_error_name(rc),
                   .title = status == 431   ? "Request Header Fields Too Large"
                            : status == 501 ? "Not Implemented"
                            : status == 505 ? "HTTP Version Not Supported"
                            : status == 417 ? "Expectation Failed"
                                            : "Bad Request",
                   .detail = http1_error_text(rc),
                   .retry_ns = BIDE_FOREVER });
}

/* ===== calls that ended without any response ===== */

static int status_of(const struct exchange *ex, bide_reason reason)
{
    if (reason == BIDE_BECAUSE_UPLOAD)
        return 408;
    if (bide_reason_is_refusal(reason) || ex->fault == BIDE_FAULT_LOCAL)
        return 503;
    if (reason == BIDE_BECAUSE_DEADLINE || ex->fault == BIDE_FAULT_TIMEOUT)
        return 504;
    return 502;
}

static const char *title_of(int status)
{
    return status == 408   ? "Request Timeout"
           : status == 503 ? "Service Unavailable"
           : status == 504 ? "Gateway Timeout"
                           : "Bad Gateway";
}

/* The one URL that no endpoint here can be asked for is one of another protocol
 * (attempt_read.c). */
static const char *fault_text(const struct exchange *ex)
{
    return ex->fault == BIDE_FAULT_URL
               ? "the endpoint speaks HTTP/2, and not HTTP/1.1; see `protocol`"
               : bide_fault_name((bide_fault)ex->fault);
}

void own_answer_for(struct exchange *ex, const bide_decision *d)
{
    int status = status_of(ex, d->reason);
    int64_t now = ex->worker->loop.now_ns;
    char detail[256];
    if (ex->cannot_upgrade) {
        own_answer_with(ex, 502, "no_upgrade", "Bad Gateway",
                        "the endpoint speaks HTTP/2, and does not offer other "
                        "protocols over it (RFC 8441)");
        return;
    }
    snprintf(detail, sizeof detail, "%s%s%s", bide_reason_text(d->reason),
             ex->fault ? "; the last attempt failed: " : "",
             ex->fault ? fault_text(ex) : "");
    own_answer(ex, &(struct own_answer){
                       .status = status,
                       .problem = bide_reason_name(d->reason),
                       .title = title_of(status),
                       .detail = detail,
                       .refusal = bide_reason_is_refusal(d->reason),
                       .retry_ns = d->at_ns == BIDE_FOREVER ? BIDE_FOREVER
                                   : d->at_ns > now         ? d->at_ns - now
                                                            : 0 });
}
