/* The head of a response as the client gets it, and interim responses. */
#include <string.h>

#include "proxy/exchange/answer.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/conn.h"
#include "net/http/server_answer.h"
#include "proxy/exchange/answer_body.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/fallback.h"
#include "proxy/exchange/hops.h"
#include "proxy/exchange/text.h"
#include "proxy/exchange/upload.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/worker.h"

#define BIT(id) (UINT64_C(1) << HTTP1_ID_##id)

/* ===== the head ===== */

static const uint64_t dropped =
    BIT(CONNECTION) | BIT(KEEP_ALIVE) | BIT(PROXY_CONNECTION) | BIT(TE) |
    BIT(TRAILER) | BIT(TRANSFER_ENCODING) | BIT(UPGRADE) | BIT(HTTP2_SETTINGS) |
    BIT(X_BIDE_ATTEMPTS) | BIT(X_BIDE_REASON);

/* Responses that cannot have a body have no length either (RFC 9110, 8.6).
 * Fields of a bide further down are hidden like our own. */
static uint64_t dropped_from(const struct attempt *a)
{
    unsigned status = a->resp.status;
    uint64_t drop = dropped;
    if (status < 200 || status == 204)
        drop |= BIT(CONTENT_LENGTH);
    if (!a->ex->generation->conf->headers.bide)
        drop |= BIT(X_BIDE_RETRY) | BIT(X_BIDE_FALLBACK) | BIT(X_BIDE_FAULT);
    return drop;
}

static void put_status_line(struct text *t, const struct attempt *a)
{
    const struct http1_head *resp = &a->resp;
    TEXT_LITERAL(t, "HTTP/1.1 ");
    text_number(t, resp->status);
    TEXT_LITERAL(t, " ");
    if (resp->reason_len == 0) /* HTTP/2 has none */
        text_string(t, http_status_text(resp->status));
    text_put(t, net_buf_at(a->in) + resp->reason, resp->reason_len);
    TEXT_LITERAL(t, "\r\n");
}

static void put_bide(struct text *t, const struct exchange *ex)
{
    if (ex->generation->conf->forwarded.via)
        hops_put_via(t, ex, HOPS_BY_HTTP11);
    if (!ex->generation->conf->headers.bide)
        return;
    TEXT_LITERAL(t, "X-Bide-Attempts: ");
    text_number(t, ex->tries);
    TEXT_LITERAL(t, "\r\n");
    if (ex->fallback)
        text_format(t, "X-Bide-Fallback: %s\r\n",
                    fallback_name((enum fallback_kind)ex->fallback));
    if (ex->reason == BIDE_BECAUSE_SUCCESS)
        return;
    TEXT_LITERAL(t, "X-Bide-Reason: ");
    text_string(t, ex->problem ? ex->problem
                               : bide_reason_name((bide_reason)ex->reason));
    TEXT_LITERAL(t, "\r\n");
}

static void put_connection(struct text *t, const struct attempt *a)
{
    const struct exchange *ex = a->ex;
    if (a->resp.framing == HTTP1_TUNNEL) {
        const struct http1_field *f = http1_find(&a->resp, HTTP1_ID_UPGRADE);
        TEXT_LITERAL(t, "Connection: upgrade\r\nUpgrade: ");
        if (f)
            text_put(t, net_buf_at(a->in) + f->value, f->value_len);
        TEXT_LITERAL(t, "\r\n");
    } else if (ex->close_after) {
        TEXT_LITERAL(t, "Connection: close\r\n");
    } else if (ex->req.minor == 0) {
        TEXT_LITERAL(t, "Connection: keep-alive\r\n");
    }
    if ((a->resp.framing == HTTP1_CHUNKED && a->pass == PASS_AS_IT_IS) ||
        a->pass == PASS_CHUNKED)
        TEXT_LITERAL(t, "Transfer-Encoding: chunked\r\n");
}

static bool write_head(struct exchange *ex, struct attempt *a)
{
    struct net_buf *out = net_buf_take(&ex->worker->bufs);
    if (!(ex->out = out))
        return false;
    struct text t = text_in(out);
    put_status_line(&t, a);
    text_lines(&t, &a->resp, net_buf_at(a->in), dropped_from(a));
    put_bide(&t, ex);
    put_connection(&t, a);
    TEXT_LITERAL(&t, "\r\n");
    return text_done(&t, out);
}

/* ===== counting ===== */

void answer_count(struct exchange *ex, int status)
{
    struct counters *c = &ex->worker->counters;
    exchange_move(ex, EXCHANGE_ANSWER);
    ex->status = (uint16_t)status;
    switch (status / 100) {
    case 1:
        count(&c->answered_1xx);
        break;
    case 2:
        count(&c->answered_2xx);
        break;
    case 3:
        count(&c->answered_3xx);
        break;
    case 4:
        count(&c->answered_4xx);
        break;
    default:
        count(&c->answered_5xx);
    }
}

/* ===== beginning ===== */

/* Whether the client's connection must be closed after this. */
static bool ends_connection(const struct exchange *ex, const struct attempt *a)
{
    return !ex->req.keep_alive || ex->upload != UPLOAD_NONE ||
           ex->worker->draining || answer_ends_by_closing(a);
}

/* A bide further down has found a loop; others use 508 in other meanings. */
static bool is_loop(const struct attempt *a)
{
    if (a->resp.status != 508)
        return false;
    const struct http1_field *f = http1_find(&a->resp, HTTP1_ID_X_BIDE_REASON);
    return f && f->value_len == 4 &&
           memcmp(net_buf_at(a->in) + f->value, "loop", 4) == 0;
}

void answer_begin(struct exchange *ex)
{
    struct attempt *a = ex->winner;
    ex->close_after = ends_connection(ex, a);
    if (is_loop(a))
        ex->problem = "loop";
    if (!write_head(ex, a)) {
        net_buf_give(&ex->worker->bufs, ex->out);
        ex->out = NULL;
        a->ready = a->in->begin; /* none of it can be passed on */
        answer_broken(ex);
        return;
    }
    answer_count(ex, a->resp.status);
    upload_await_others(ex);
    a->in->begin += a->resp.head_len;
    a->until_ns = BIDE_FOREVER;
    answer_frame(a);
    answer_pump(ex);
}

/* ===== interim responses ===== */

/* One that has been begun must be sent completely: the next response
 * follows. */
void interim_flush(struct exchange *ex)
{
    struct net_buf *b = ex->interim;
    if (!b)
        return;
    ssize_t n = net_write(&ex->client->conn, net_buf_at(b), net_buf_len(b));
    if (n == NET_ERROR)
        ex->client->conn.broken = true;
    if (n > 0)
        b->begin += (uint32_t)n;
    if (net_buf_len(b) > 0)
        return;
    net_buf_give(&ex->worker->bufs, b);
    ex->interim = NULL;
}

void interim_send(struct exchange *ex, const char *text, size_t len)
{
    if (ex->interim || !(ex->interim = net_buf_take(&ex->worker->bufs)))
        return;
    memcpy(ex->interim->data, text, len);
    ex->interim->end = (uint32_t)len;
    interim_flush(ex);
}

/* 100 is not passed on: the client got ours. An HTTP/1.0 client does not know
 * interim responses. */
void answer_interim(struct attempt *a)
{
    struct exchange *ex = a->ex;
    const struct http1_head *resp = &a->resp;
    struct net_buf *b;
    if (resp->status == 100 || ex->req.minor == 0 || ex->winner ||
        ex->interim || !(b = net_buf_take(&ex->worker->bufs)))
        return;
    struct text t = text_in(b);
    put_status_line(&t, a);
    text_lines(&t, resp, net_buf_at(a->in), dropped_from(a));
    TEXT_LITERAL(&t, "\r\n");
    if (text_done(&t, b)) {
        count(&ex->worker->counters.answered_1xx);
        ex->interim = b;
        interim_flush(ex);
    } else {
        net_buf_give(&ex->worker->bufs, b);
    }
}
