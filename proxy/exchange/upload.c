/* The body of a request.
 *
 * It is kept, unchanged, until it is complete or reaches the limit for replays;
 * only then does the first attempt begin. So a slow client does not hold a
 * connection to an endpoint, and an attempt can be repeated. What exceeds the
 * limit is streamed and not kept: not_replayable. */
#include "proxy/exchange/upload.h"

#include <string.h>

#include "bide/run.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/conn.h"
#include "net/stream/stream.h"
#include "proxy/exchange/answer.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/upload_keep.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/once/once.h"
#include "proxy/worker.h"

/* ===== looking at what came ===== */

/* What follows the body is the next request. */
static bool keep_rest(struct exchange *ex, struct net_buf *b, uint32_t from)
{
    uint32_t n = b->end - from;
    if (n == 0 || b == ex->client->in)
        return true;
    if (!(ex->rest = net_buf_take(&ex->worker->bufs)))
        return false;
    memcpy(ex->rest->data, b->data + from, n);
    ex->rest->end = n;
    b->end = from;
    return true;
}

/* The largest body that is taken. */
static uint64_t most_bytes(const struct exchange *ex)
{
    uint64_t most = ex->generation->conf->limits.body_bytes;
    return ex->once && ex->once->conf->max_body < most
               ? ex->once->conf->max_body
               : most;
}

void upload_refuse_memory(struct exchange *ex)
{
    count(&ex->worker->counters.shed);
    own_answer(ex, &(struct own_answer){ .status = 503,
                                         .problem = "memory",
                                         .title = "Service Unavailable",
                                         .detail = "too much is being kept: "
                                                   "limits.memory",
                                         .refusal = true,
                                         .retry_ns = BIDE_SECOND });
}

static void refuse_large(struct exchange *ex)
{
    own_answer(ex, &(struct own_answer){ .status = 413,
                                         .problem = "body_too_large",
                                         .title = "Content Too Large",
                                         .detail = ex->once
                                                       ? "the body is larger "
                                                         "than "
                                                         "idempotency.max_body"
                                                       : "the body is larger "
                                                         "than "
                                                         "limits.body_bytes",
                                         .retry_ns = BIDE_FOREVER });
}

/* A trailer is passed on unchanged, so a forbidden field in it is an error. */
static bool trailer_fits(struct exchange *ex)
{
    if (!http1_has(&ex->body.trailer, HTTP1_ID_UNDERSCORE) ||
        ex->generation->conf->headers.underscores)
        return true;
    count(&ex->worker->counters.refused);
    own_answer_malformed(ex, HTTP1_ETRAILER);
    return false;
}

bool upload_scan(struct exchange *ex, struct net_buf *b, uint32_t *at)
{
    struct http1_piece piece;
    int rc;
    do {
        rc = http1_body_next(&ex->body, b->data + *at, b->end - *at, &piece);
        if (rc < 0) {
            count(&ex->worker->counters.refused);
            own_answer_malformed(ex, rc);
            return false;
        }
        if (ex->once && piece.data_len > 0)
            once_body(ex, b->data + *at + piece.data, piece.data_len);
        *at += (uint32_t)piece.consumed;
        ex->body_bytes += piece.data_len;
    } while (rc == HTTP1_DATA);
    if (ex->body_bytes > most_bytes(ex)) {
        refuse_large(ex);
        return false;
    }
    if (rc != HTTP1_END)
        return true;
    if (!trailer_fits(ex))
        return false;
    if (!keep_rest(ex, b, *at)) {
        upload_refuse_memory(ex);
        return false;
    }
    ex->upload = UPLOAD_NONE;
    if (ex->op.body_pending) {
        ex->op.body_pending = false;
        if (exchange_is_called(ex))
            bide_call_set_op(&ex->call, &ex->op);
    }
    upload_await_others(ex);
    if (ex->client->conn.hup)
        exchange_later(ex, TODO_STEP);
    return true;
}

/* ===== reading ===== */

/* Once a response arrives, the two sides set their own pace. */
void upload_await_client(struct exchange *ex)
{
    if (ex->phase == EXCHANGE_ANSWER)
        return;
    pace_run(&ex->up, ex->worker->loop.now_ns);
    exchange_await(ex);
}

void upload_await_others(struct exchange *ex)
{
    if (!pace_runs(&ex->up))
        return;
    pace_stop(&ex->up, ex->worker->loop.now_ns);
    exchange_await(ex);
}

static void keep_pace(struct exchange *ex, size_t n)
{
    const struct bide__proxy_conf *conf = ex->generation->conf;
    pace_add(&ex->up, n, ex->worker->loop.now_ns, conf->limits.body_rate,
             conf->timeouts.body_ns);
}

ssize_t upload_fill(struct exchange *ex, struct net_buf *b, uint64_t most)
{
    size_t space = net_buf_space(b) < most ? net_buf_space(b) : (size_t)most;
    ssize_t n = net_read(&ex->client->conn, net_buf_room(b), space);
    if (n > 0) {
        b->end += (uint32_t)n;
        count_n(&ex->worker->counters.bytes_in, (uint64_t)n);
        keep_pace(ex, (size_t)n);
    }
    return n;
}

/* It can be what came over HTTP/2: trailers that are too large are answered, as a head
 * is. */
void upload_broken(struct exchange *ex)
{
    const struct stream *s = stream_of(&ex->client->conn);
    if (!s || !s->error) {
        exchange_cancel(ex);
        return;
    }
    count(&ex->worker->counters.refused);
    own_answer_malformed(ex, s->error);
}

/* ===== for the others ===== */

static void say_continue(struct exchange *ex)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (ex->req.expect_continue &&
        net_buf_len(ex->client->in) == ex->req.head_len)
        interim_send(ex, text, sizeof text - 1);
}

bool upload_begin(struct exchange *ex)
{
    http1_body_init(&ex->body, ex->req.framing, ex->req.content_length);
    http1_body_max_trailer(&ex->body, ex->worker->conf->limits.headers,
                           ex->worker->conf->limits.header_bytes);
    if (ex->req.framing == HTTP1_LENGTH &&
        ex->req.content_length > most_bytes(ex)) {
        refuse_large(ex);
        return false;
    }
    if (!upload_take(ex, ex->client->in))
        return false;
    if (ex->upload == UPLOAD_NONE)
        return true;
    say_continue(ex);
    pace_begin(&ex->up, ex->generation->conf->timeouts.body_ns);
    upload_keep(ex);
    return false;
}

void upload_read(struct exchange *ex)
{
    if (ex->upload == UPLOAD_KEEPING)
        upload_keep(ex);
    else if (ex->upload == UPLOAD_STREAMING)
        upload_stream(ex);
}

void upload_rest(struct exchange *ex)
{
    struct client *c = ex->client;
    if (!ex->rest)
        return;
    net_buf_give(&ex->worker->bufs, c->in);
    c->in = ex->rest;
    ex->rest = NULL;
}

void upload_free(struct exchange *ex)
{
    struct net_bufs *bufs = &ex->worker->bufs;
    struct net_buf *b, *next;
    for (b = ex->kept; b; b = next) {
        next = b->next;
        net_buf_give(bufs, b);
    }
    net_buf_give(bufs, ex->stream);
    net_buf_give(bufs, ex->rest);
    ex->kept = ex->kept_last = ex->stream = ex->rest = NULL;
}
