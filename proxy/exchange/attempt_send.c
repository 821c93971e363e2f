/* Sending a request: its head as the endpoint gets it, then the body. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "bide/claim.h"
#include "bide/run.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/conn.h"
#include "net/stream/mux.h"
#include "net/stream/stream.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/link.h"
#include "proxy/back/pool.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/attempt_io.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/hops.h"
#include "proxy/exchange/text.h"
#include "proxy/exchange/upload_keep.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/grpc/grpc.h"
#include "proxy/worker.h"

#define BIT(id) (UINT64_C(1) << HTTP1_ID_##id)

/* ===== the head ===== */

/* Rewritten, or dropped. */
uint64_t request_dropped(const struct exchange *ex)
{
    const struct bide__proxy_forwarded *f = &ex->generation->conf->forwarded;
    uint64_t drop = BIT(CONNECTION) | BIT(KEEP_ALIVE) | BIT(PROXY_CONNECTION) |
                    BIT(TE) | BIT(TRAILER) | BIT(TRANSFER_ENCODING) |
                    BIT(UPGRADE) | BIT(HTTP2_SETTINGS) | BIT(EXPECT) |
                    BIT(PROXY) | BIT(PROXY_AUTHORIZATION) |
                    BIT(X_BIDE_ATTEMPT) | BIT(X_BIDE_TIMEOUT_MS) |
                    BIT(BAGGAGE) |
                    BIT(X_BIDE_IDEMPOTENT) | BIT(X_BIDE_ATTEMPTS_MAX) |
                    BIT(X_BIDE_FAULT);
    if (!ex->generation->conf->headers.underscores)
        drop |= BIT(UNDERSCORE);
    if (f->address != BIDE__FORWARDED_OFF || !ex->client->trusted)
        drop |= BIT(X_FORWARDED_FOR);
    if (f->proto || !ex->client->trusted)
        drop |= BIT(X_FORWARDED_PROTO);
    if (f->host || !ex->client->trusted)
        drop |= BIT(X_FORWARDED_HOST);
    if (!ex->client->trusted)
        drop |= BIT(FORWARDED) | BIT(X_FORWARDED) | BIT(X_REAL_IP);
    if (ex->generation->conf->tls.forward_client || !ex->client->trusted)
        drop |= BIT(X_FORWARDED_CLIENT_CERT);
    if (ex->trace.sampled)
        drop |= BIT(TRACEPARENT);
    if (event_new_trace(ex)) /* the client's belongs to no trace, or another */
        drop |= BIT(TRACESTATE);
    if (!f->keep_host || ex->req.form == HTTP1_ABSOLUTE)
        drop |= BIT(HOST);
    if (ex->key[0])
        drop |= BIT(IDEMPOTENCY_KEY);
    if (ex->request_id[0])
        drop |= BIT(X_REQUEST_ID);
    if (ex->grpc)
        drop |= grpc_dropped();
    return drop | hops_dropped(ex);
}

static void put_first_line(struct text *t, const struct exchange *ex)
{
    const struct http1_head *req = &ex->req;
    const char *from = exchange_bytes(ex);
    text_put(t, from + req->method, req->method_len);
    text_put(t, " ", 1);
    if (req->form == HTTP1_ABSOLUTE) {
        /* For OPTIONS, a target without a path is the server as a whole. */
        if (req->path_len == 0)
            text_put(t,
                     req->method_id == HTTP1_OPTIONS && !req->query_len ? "*"
                                                                        : "/",
                     1);
        text_put(t, from + req->path, (size_t)req->path_len + req->query_len);
    } else {
        text_put(t, from + req->target, req->target_len);
    }
    TEXT_LITERAL(t, " HTTP/1.1\r\n");
}

static void put_host(struct text *t, const struct attempt *a, uint64_t drop)
{
    const struct exchange *ex = a->ex;
    bool theirs =
        ex->generation->conf->forwarded.keep_host && ex->req.host_len > 0;
    if (!(drop & BIT(HOST)) && http1_has(&ex->req, HTTP1_ID_HOST))
        return; /* it is among the lines that are copied */
    TEXT_LITERAL(t, "Host: ");
    if (theirs)
        text_put(t, exchange_bytes(ex) + ex->req.host, ex->req.host_len);
    else
        text_string(t, a->pool->endpoint->authority);
    TEXT_LITERAL(t, "\r\n");
}

static void put_client_address(struct text *t, const struct client *c)
{
    char address[INET6_ADDRSTRLEN] = "unknown";
    if (c->address_len == 4) { /* inet_ntop() would take a printf for it */
        for (int i = 0; i < 4; i++) {
            if (i > 0)
                TEXT_LITERAL(t, ".");
            text_number(t, c->address[i]);
        }
        return;
    }
    if (c->address_len == 16)
        inet_ntop(AF_INET6, c->address, address, sizeof address);
    text_string(t, address);
}

static void put_values(struct text *t, const struct exchange *ex,
                       enum http1_id id)
{
    for (unsigned i = 0; i < ex->req.n_fields; i++) {
        const struct http1_field *f = &ex->fields[i];
        if (f->id != id || f->value_len == 0)
            continue;
        text_put(t, exchange_bytes(ex) + f->value, f->value_len);
        TEXT_LITERAL(t, ", ");
    }
}

static void put_forwarded(struct text *t, const struct exchange *ex)
{
    const struct bide__proxy_forwarded *f = &ex->generation->conf->forwarded;
    const struct client *c = ex->client;
    if (f->address != BIDE__FORWARDED_OFF) {
        TEXT_LITERAL(t, "X-Forwarded-For: ");
        if (f->address == BIDE__FORWARDED_APPEND && c->trusted)
            put_values(t, ex, HTTP1_ID_X_FORWARDED_FOR);
        put_client_address(t, c);
        TEXT_LITERAL(t, "\r\n");
    }
    if (f->proto)
        text_string(t, c->tls ? "X-Forwarded-Proto: https\r\n"
                              : "X-Forwarded-Proto: http\r\n");
    if (f->host && ex->req.host_len > 0) {
        TEXT_LITERAL(t, "X-Forwarded-Host: ");
        text_put(t, exchange_bytes(ex) + ex->req.host, ex->req.host_len);
        TEXT_LITERAL(t, "\r\n");
    }
}

static void put_certificate(struct text *t, const struct exchange *ex)
{
    const char *it = exchange_certificate(ex);
    if (!it)
        return;
    TEXT_LITERAL(t, "X-Forwarded-Client-Cert: ");
    text_string(t, it);
    TEXT_LITERAL(t, "\r\n");
}

/* The endpoint's spans are children of the attempt's. */
static void put_trace(struct text *t, const struct attempt *a)
{
    char parent[BIDE__TRACEPARENT + 1];
    if (!event_traceparent(a, parent))
        return;
    TEXT_LITERAL(t, "Traceparent: ");
    text_put(t, parent, BIDE__TRACEPARENT);
    TEXT_LITERAL(t, "\r\n");
}

/* The client's members, and those of the claim; NULL: only the client's. */
static void put_baggage(struct text *t, const struct exchange *ex,
                        const bide_claim *claim)
{
    bide_header theirs[FIELDS_MAX];
    unsigned n = 0;
    for (unsigned i = 0; ex->req.seen & BIT(BAGGAGE) && i < ex->req.n_fields;
         i++) {
        const struct http1_field *f = &ex->fields[i];
        if (f->id == HTTP1_ID_BAGGAGE && !f->hop)
            theirs[n++] = (bide_header){ .value = exchange_bytes(ex) + f->value,
                                         .value_len = f->value_len };
    }
    int64_t wall_ms =
        claim && claim->left_ns != BIDE_FOREVER ? bide_wall_ms() : 0;
    struct text value = *t;
    TEXT_LITERAL(&value, "Baggage: ");
    size_t room = (size_t)(value.end - value.at);
    size_t len = bide_baggage_write(value.at, room, theirs, n, claim, wall_ms);
    if (len == 0)
        return;
    value.full = value.full || len > room;
    value.at += len > room ? 0 : len;
    TEXT_LITERAL(&value, "\r\n");
    *t = value;
}

/* Who owns the retries, and how much time is left: by what the next bide reads,
 * and by what an application in between passes on. */
static void put_claim(struct text *t, const struct attempt *a)
{
    const struct exchange *ex = a->ex;
    if (!ex->generation->conf->headers.bide) {
        if (ex->req.seen & BIT(BAGGAGE))
            put_baggage(t, ex, NULL);
        return;
    }
    bide_claim claim = bide_call_claim(&ex->call, &ex->op, a->nth,
                                       ex->worker->loop.now_ns);
    if (claim.attempt) {
        TEXT_LITERAL(t, "X-Bide-Attempt: ");
        text_number(t, claim.attempt);
        if (claim.max) {
            TEXT_LITERAL(t, "; max=");
            text_number(t, claim.max);
        }
        TEXT_LITERAL(t, "\r\n");
    }
    if (claim.left_ns != BIDE_FOREVER) {
        TEXT_LITERAL(t, "X-Bide-Timeout-Ms: ");
        text_number(t, (uint64_t)bide_claim_left_ms(&claim));
        TEXT_LITERAL(t, "\r\n");
    }
    put_baggage(t, ex, &claim);
}

/* A generated value, since the client sent none. */
static void put_generated(struct text *t, const char *before,
                          const char *value, const char *after)
{
    if (!value[0])
        return;
    text_string(t, before);
    text_string(t, value);
    text_string(t, after);
}

/* What frames the body and the connection. */
static void put_framing(struct text *t, const struct exchange *ex)
{
    if (ex->req.framing == HTTP1_CHUNKED)
        TEXT_LITERAL(t, "Transfer-Encoding: chunked\r\n");
    if (!ex->upgrade)
        return;
    const struct http1_field *f = http1_find(&ex->req, HTTP1_ID_UPGRADE);
    TEXT_LITERAL(t, "Connection: upgrade\r\nUpgrade: ");
    text_put(t, exchange_bytes(ex) + f->value, f->value_len);
    TEXT_LITERAL(t, "\r\n");
}

bool request_head_write(struct attempt *a, struct net_buf *to)
{
    const struct exchange *ex = a->ex;
    uint64_t drop = request_dropped(ex);
    struct text t = text_in(to);

    put_first_line(&t, ex);
    put_host(&t, a, drop);
    text_lines(&t, &ex->req, exchange_bytes(ex), drop);
    put_forwarded(&t, ex);
    put_certificate(&t, ex);
    hops_put(&t, ex);
    put_claim(&t, a);
    if (ex->grpc)
        grpc_put(&t, a);
    put_generated(&t, "Idempotency-Key: \"", ex->key, "\"\r\n");
    put_generated(&t, "X-Request-Id: ", ex->request_id, "\r\n");
    put_trace(&t, a);
    put_framing(&t, ex);
    TEXT_LITERAL(&t, "\r\n");
    return text_done(&t, to);
}

/* ===== sending ===== */

enum { PIECES = 16 };

static int gather(const struct attempt *a, struct iovec *iov)
{
    const struct exchange *ex = a->ex;
    int n = 0;
    if (a->head)
        iov[n++] = (struct iovec){ net_buf_at(a->head), net_buf_len(a->head) };
    if (a->body_sent < ex->kept_bytes)
        n += upload_pieces(ex, a->body_sent, iov + n, PIECES - n);
    else if (ex->stream && ex->scanned > ex->stream->begin)
        iov[n++] = (struct iovec){ net_buf_at(ex->stream),
                                   ex->scanned - ex->stream->begin };
    return n;
}

/* n bytes have been sent. */
static void advance(struct attempt *a, size_t n)
{
    struct exchange *ex = a->ex;
    if (a->head) {
        size_t of_head = net_buf_len(a->head) < n ? net_buf_len(a->head) : n;
        a->head->begin += (uint32_t)of_head;
        n -= of_head;
        if (net_buf_len(a->head) == 0) {
            net_buf_give(&ex->worker->bufs, a->head);
            a->head = NULL;
        }
    }
    uint64_t kept = ex->kept_bytes - a->body_sent;
    if (kept > n)
        kept = n;
    a->body_sent += kept;
    if (n > kept)
        ex->stream->begin += (uint32_t)(n - kept);
}

static bool is_drained(const struct attempt *a)
{
    const struct exchange *ex = a->ex;
    return !a->head && a->body_sent == ex->kept_bytes &&
           (!ex->stream || ex->stream->begin == ex->scanned);
}

/* The rest of the request is not needed if the response has already arrived,
 * and a server that responds early may have closed: so an error here counts
 * only if nothing can be read either. */
static void sending_failed(struct attempt *a)
{
    if (a->sending == SENT_NOTHING && a->phase != ATTEMPT_PASSED_ON) {
        attempt_fail(a, BIDE_FAULT_RESET);
        return;
    }
    a->sending = SENDING_FAILED;
    if (a->phase == ATTEMPT_PASSED_ON)
        return;
    a->link->conn.readable = true;
    attempt_later(a);
}

void attempt_expect(struct attempt *a)
{
    http1_response_init(&a->resp, a->fields, FIELDS_MAX,
                        a->ex->worker->conf->limits.header_bytes,
                        (enum http1_method)a->ex->req.method_id,
                        a->ex->upgrade);
}

/* Over HTTP/2 an endpoint says whether it can be asked for another protocol, and one
 * is asked for at a time. */
static bool may_upgrade(const struct attempt *a)
{
    const struct exchange *ex = a->ex;
    const struct stream *s = stream_of(&a->link->conn);
    struct stream_switch asks;
    return !ex->upgrade || !s ||
           (s->mux->http2.peer.connect_protocol &&
            switch_read(&asks, &ex->req, exchange_bytes(ex)));
}

static bool prepare(struct attempt *a)
{
    struct worker *w = a->ex->worker;
    attempt_expect(a);
    a->head = net_buf_take(&w->bufs);
    return a->head && request_head_write(a, a->head);
}

/* While a body is streamed, an attempt has its timeout for each piece, which
 * does not run while it waits for the client. The deadline of the call does. */
static void sent(struct attempt *a, enum sending now)
{
    struct exchange *ex = a->ex;
    bool streams = ex->one_shot || ex->upload == UPLOAD_STREAMING || ex->eager;
    bool waited = a->sending == SENT_WHAT_CAME, waits = now == SENT_WHAT_CAME;
    a->sending = (uint8_t)now;
    if (!streams || a->phase == ATTEMPT_PASSED_ON || ex->upgrade)
        return;
    int64_t until = net_after(ex->worker->loop.now_ns, a->timeout_ns);
    int64_t deadline = bide_call_deadline(&ex->call);
    if (waited && !waits)
        attempt_started(a);
    else
        attempt_until(a, waits || deadline < until ? deadline : until);
}

void attempt_send(struct attempt *a)
{
    struct exchange *ex = a->ex;
    struct iovec iov[PIECES];
    bool any = a->sending != SENT_NOTHING;

    if (!any && !may_upgrade(a)) {
        ex->cannot_upgrade = true;
        attempt_fail(a, BIDE_FAULT_URL);
        return;
    }
    if (!any && !a->head && !prepare(a)) {
        attempt_fail(a, BIDE_FAULT_LOCAL);
        return;
    }
    while (!is_drained(a)) {
        ssize_t n = net_writev(&a->link->conn, iov, gather(a, iov));
        if (n == NET_AGAIN) {
            sent(a, any ? SENT_SOME : SENT_NOTHING);
            return;
        }
        if (n < 0) {
            sending_failed(a);
            return;
        }
        if (!any)
            a->sending = SENT_SOME;
        any = true;
        advance(a, (size_t)n);
    }
    if (ex->upload != UPLOAD_NONE)
        exchange_later(ex, TODO_UPLOAD);
    sent(a, ex->upload == UPLOAD_NONE ? SENT_ALL : SENT_WHAT_CAME);
}
