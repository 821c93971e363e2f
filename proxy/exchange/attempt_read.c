/* Reading the head of a response, and judging it: the moment at which a call
 * ends or continues. */
#include <string.h>
#include <strings.h>

#include "bide/run.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/conn.h"
#include "net/stream/stream.h"
#include "proxy/back/link.h"
#include "proxy/back/service.h"
#include "proxy/exchange/answer.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/attempt_io.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/fallback.h"
#include "proxy/exchange/route.h"
#include "proxy/front/client.h"
#include "proxy/grpc/grpc.h"
#include "proxy/grpc/grpc_answer.h"
#include "proxy/once/once.h"
#include "proxy/once/record.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

/* ===== bytes ===== */

/* Moves the unused part to the front. */
static void compact(struct attempt *a)
{
    struct net_buf *b = a->in;
    uint32_t gone = b->begin;
    if (gone == 0)
        return;
    memmove(b->data, b->data + gone, b->end - gone);
    b->end -= gone;
    b->begin = 0;
    a->scanned = a->scanned > gone ? a->scanned - gone : 0;
    a->ready = a->ready > gone ? a->ready - gone : 0;
}

/* Reads into the buffer, making room first: over 0; 0: the end; NET_...; no
 * room counts as NET_AGAIN. */
static ssize_t fill(struct attempt *a)
{
    compact(a);
    if (!a->link)
        return NET_ERROR;
    if (net_buf_space(a->in) == 0 || !net_can_read(&a->link->conn))
        return NET_AGAIN;
    ssize_t n =
        net_read(&a->link->conn, net_buf_room(a->in), net_buf_space(a->in));
    if (n > 0)
        a->in->end += (uint32_t)n;
    return n;
}

bool attempt_scan(struct attempt *a)
{
    struct net_buf *b = a->in;
    struct http1_piece piece;
    uint32_t trailers;
    int rc;
    do {
        rc = http1_body_next(&a->body, b->data + a->scanned,
                             b->end - a->scanned, &piece);
        if (rc < 0)
            return false;
        a->messages |= rc == HTTP1_DATA;
        trailers = a->scanned + (uint32_t)piece.data;
        if (rc == HTTP1_END && a->ex->grpc)
            grpc_got_trailers(a, b->data + trailers);
        if (a->copy && piece.data_len > 0)
            copy_add(a, b->data + a->scanned + piece.data, piece.data_len);
        if (a->record && piece.data_len > 0)
            once_record_add(a, b->data + a->scanned + piece.data,
                            piece.data_len);
        if (a->pass == PASS_UNCHUNKED) {
            memmove(b->data + a->ready, b->data + a->scanned + piece.data,
                    piece.data_len);
            a->ready += (uint32_t)piece.data_len;
        }
        a->scanned += (uint32_t)piece.consumed;
        if (a->pass != PASS_UNCHUNKED)
            a->ready = a->scanned;
    } while (rc == HTTP1_DATA);
    if (rc == HTTP1_END)
        a->end = END_THERE;
    if (rc == HTTP1_END && grpc_lacks_status(a))
        a->ready = trailers; /* there are others to send in their place */
    return true;
}

/* A body where few servers expect one. A server that leaves it unread takes it
 * for the next request, and its response would go to another client. */
static bool has_odd_body(const struct http1_head *req)
{
    const unsigned odd = 1u << HTTP1_GET | 1u << HTTP1_HEAD |
                         1u << HTTP1_DELETE | 1u << HTTP1_OPTIONS |
                         1u << HTTP1_TRACE;
    return req->framing != HTTP1_NO_BODY && odd >> req->method_id & 1;
}

bool attempt_reusable(const struct attempt *a)
{
    return attempt_is_complete(a) && a->sending == SENT_ALL &&
           a->resp.keep_alive && a->resp.framing <= HTTP1_CHUNKED &&
           a->scanned == a->in->end && !has_odd_body(&a->ex->req);
}

/* ===== judging ===== */

static bool is_problem(const struct attempt *a)
{
    static const char type[] = "application/problem+json";
    const struct http1_field *f;
    if (a->resp.status < 400 || !http1_has(&a->resp, HTTP1_ID_CONTENT_TYPE))
        return false;
    f = http1_find(&a->resp, HTTP1_ID_CONTENT_TYPE);
    return f->value_len >= sizeof type - 1 &&
           strncasecmp(net_buf_at(a->in) + f->value, type, sizeof type - 1) ==
               0;
}

/* Whether the whole body fits in the buffer beside its head; if its length is
 * unknown, whether it may. */
static bool has_room(const struct attempt *a)
{
    if (a->resp.framing == HTTP1_LENGTH)
        return a->resp.head_len + a->resp.content_length <= a->in->size;
    return a->resp.framing != HTTP1_TUNNEL && net_buf_space(a->in) > 0;
}

/* The body without its framing, in `plain` if it has any. */
static void set_body(const struct attempt *a, bide_response *r, char *plain)
{
    const char *from = net_buf_at(a->in) + a->resp.head_len;
    size_t len = a->ready - a->in->begin - a->resp.head_len;
    struct http1_body body;
    struct http1_piece piece;
    int rc = HTTP1_DATA;

    r->body = from;
    r->body_len = len;
    if (a->resp.framing != HTTP1_CHUNKED || a->pass == PASS_UNCHUNKED)
        return;
    r->body = plain;
    r->body_len = 0;
    http1_body_init(&body, HTTP1_CHUNKED, 0);
    while (rc == HTTP1_DATA) {
        rc = http1_body_next(&body, from, len, &piece);
        if (rc < 0 || r->body_len + piece.data_len > BIDE_PROBLEM_MAX)
            return;
        memcpy(plain + r->body_len, from + piece.data, piece.data_len);
        r->body_len += piece.data_len;
        from += piece.consumed;
        len -= piece.consumed;
    }
}

/* Kept out of line: a successful response should not pay for its stack. */
__attribute__((noinline)) static bide_outcome
look_closer(const struct attempt *a, bide_response r)
{
    const char *bytes = net_buf_at(a->in);
    bide_header fields[FIELDS_MAX];
    char method[METHOD_TEXT], plain[BIDE_PROBLEM_MAX];

    for (unsigned i = 0; i < a->resp.n_fields; i++) {
        const struct http1_field *f = &a->fields[i];
        fields[i] = (bide_header){ bytes + f->line, f->name_len,
                                   bytes + f->value, f->value_len };
    }
    r.method = exchange_method(a->ex, method);
    r.headers = fields;
    r.n_headers = a->resp.n_fields;
    r.wall_s = bide_wall_s();
    if (a->ex->grpc)
        grpc_describe(a, &r, fields);
    if (is_problem(a) && attempt_is_complete(a))
        set_body(a, &r, plain);
    return bide_classify(a->ex->route->service->dep, &r);
}

/* Only a rule examines the fields of a successful response. */
static bide_outcome classify(const struct attempt *a)
{
    const struct service *service = a->ex->route->service;
    bide_response r = { .status = a->resp.status };
    if (r.status == 101)
        r.status = 200; /* the protocol was switched: that is a success */
    bool failed = a->ex->grpc && a->grpc_status > BIDE_GRPC_OK;
    if (r.status < 400 && service->plain && !failed)
        return bide_classify(service->dep, &r);
    return look_closer(a, r);
}

/* A response is judged when its head has arrived, with these exceptions: what a
 * problem document says about retrying is in its body; a response that another
 * attempt may follow is kept, as a whole, in case nothing better comes; and an
 * endpoint that has already closed has sent all of it, or never will, which is
 * better detected now than when half of it was passed on. */
static bool awaits_body(struct attempt *a)
{
    if (a->ex->grpc && grpc_fits(a))
        return grpc_holds(a);
    if (attempt_is_complete(a) || !has_room(a))
        return false;
    if (a->link->conn.hup || is_problem(a))
        return true;
    bide_class cls = classify(a).cls;
    return cls == BIDE_TRANSIENT || cls == BIDE_THROTTLED;
}

void attempt_judge(struct attempt *a)
{
    struct exchange *ex = a->ex;
    bide_outcome out = classify(a);

    if (ex->once)
        once_judge(a, &out);
    attempt_report(a, &out);
    bide_decision d = exchange_next(ex);
    if (d.action == BIDE_DONE) {
        exchange_settle(ex, &d, a);
        return;
    }
    if (attempt_is_complete(a))
        attempt_save(a);
    else
        attempt_end(a);
    exchange_act(ex, d);
}

/* ===== reading ===== */

static uint8_t pass_for(const struct attempt *a)
{
    bool old = a->ex->req.minor == 0;
    if (a->resp.framing == HTTP1_CHUNKED && old)
        return PASS_UNCHUNKED;
    if (a->resp.framing == HTTP1_UNTIL_CLOSE && !old)
        return PASS_CHUNKED;
    return PASS_AS_IT_IS;
}

/* The head is there, and perhaps part of the body. */
static void got_head(struct attempt *a)
{
    attempt_move(a, ATTEMPT_ANSWERED);
    a->scanned = a->ready = a->in->begin + a->resp.head_len;
    a->pass = pass_for(a);
    http1_body_init(&a->body, (enum http1_framing)a->resp.framing,
                    a->resp.content_length);
    http1_body_max_trailer(&a->body, FIELDS_MAX,
                           a->ex->worker->conf->limits.header_bytes);
    if (a->resp.status == 200 && a->ex->route->conf->fallback.stale_ns != 0)
        copy_begin(a);
    if (a->ex->once)
        once_record_begin(a);
    if (a->ex->grpc)
        grpc_got_head(a);
}

/* Whether HTTP/1.1 was answered by the SETTINGS of a server that speaks nothing but
 * HTTP/2, as gRPC servers do. That is a request that should not have come here, and
 * no failure of the service: or anybody could open its breaker with a browser. */
static bool is_http2(const struct attempt *a)
{
    enum { FRAME = 9, SETTINGS = 4 };
    const char *p = net_buf_at(a->in);
    return net_buf_len(a->in) >= FRAME && p[0] == 0 && p[3] == SETTINGS &&
           p[4] == 0 && memcmp(p + 5, "\0\0\0\0", 4) == 0;
}

/* True: a final head. False: more is needed, or the attempt is over. */
static bool parse(struct attempt *a)
{
    for (;;) {
        int rc = http1_parse(&a->resp, net_buf_at(a->in), net_buf_len(a->in));
        if (rc == 0)
            return false;
        if (rc < 0) {
            /* A client can make a response long, by what the origin repeats:
             * that is no failure of the service. */
            bool ours = rc == HTTP1_EHEAD || rc == HTTP1_EFIELDS;
            attempt_fail(a, ours          ? BIDE_FAULT_TOO_LONG
                            : is_http2(a) ? BIDE_FAULT_URL
                                          : BIDE_FAULT_MALFORMED);
            return false;
        }
        if (a->resp.status >= 200 || a->resp.status == 101)
            return true;
        answer_interim(a);
        a->in->begin += (uint32_t)rc;
        attempt_expect(a);
        if (net_buf_len(a->in) == 0)
            return false;
    }
}

/* `whole`: an orderly close; otherwise the connection broke. It also looks
 * orderly if it broke while we wrote to it. */
static void ended(struct attempt *a, bool whole)
{
    if (whole && a->phase == ATTEMPT_ANSWERED &&
        a->resp.framing == HTTP1_UNTIL_CLOSE) {
        if (a->sending != SENDING_FAILED)
            a->end = END_THERE;
        attempt_judge(a);
    } else {
        attempt_fail(a, BIDE_FAULT_RESET);
    }
}

void attempt_answer(struct attempt *a, const char *text, size_t len)
{
    attempt_expect(a);
    if (!(a->in = net_buf_take(&a->ex->worker->bufs)) ||
        net_buf_space(a->in) < len) {
        attempt_fail(a, BIDE_FAULT_LOCAL);
        return;
    }
    memcpy(a->in->data, text, len);
    a->in->end = (uint32_t)len;
    if (!parse(a))
        return;
    got_head(a);
    if (attempt_scan(a))
        attempt_judge(a);
    else
        attempt_fail(a, BIDE_FAULT_MALFORMED);
}

/* HTTP/2 has found its head too long. */
static bool is_too_long(const struct link *l)
{
    const struct stream *s = stream_of(&l->conn);
    return s && s->error;
}

void attempt_read(struct attempt *a)
{
    struct link *l = a->link;
    if (!a->in && !(a->in = net_buf_take(&a->ex->worker->bufs))) {
        attempt_fail(a, BIDE_FAULT_LOCAL);
        return;
    }
    for (;;) {
        ssize_t n = fill(a);
        if (n == NET_ERROR && l == a->link && is_too_long(l)) {
            attempt_fail(a, BIDE_FAULT_TOO_LONG);
            return;
        }
        if (n == NET_AGAIN) {
            if (a->sending == SENDING_FAILED && a->phase == ATTEMPT_ASKING)
                attempt_fail(a, BIDE_FAULT_RESET);
            return;
        }
        if (n <= 0) {
            ended(a, n == 0);
            return;
        }
        if (a->phase == ATTEMPT_ASKING) {
            if (parse(a))
                got_head(a);
            else if (l->attempt != a || !net_can_read(&l->conn))
                return;
            else
                continue;
        }
        if (a->resp.framing != HTTP1_TUNNEL && !attempt_scan(a)) {
            attempt_fail(a, BIDE_FAULT_MALFORMED);
            return;
        }
        if (!awaits_body(a)) {
            attempt_judge(a);
            return;
        }
    }
}
