/* What has arrived on a stream, as text, until its owner reads it. */
#include <string.h>

#include "net/http1/media.h"
#include "net/stream/mux.h"
#include "net/stream/stream_io.h"

/* ===== appending ===== */

static bool append(struct stream *s, const void *text, size_t len)
{
    const char *from = text;
    while (len > 0) {
        struct net_buf *b = s->in_last;
        if (!b || net_buf_space(b) == 0) {
            if (!(b = net_buf_take_if(s->mux->bufs)))
                return false;
            *(s->in ? &s->in_last->next : &s->in) = b;
            s->in_last = b;
            s->chunk = 0;
        }
        size_t part = net_buf_space(b) < len ? net_buf_space(b) : len;
        memcpy(net_buf_room(b), from, part);
        b->end += (uint32_t)part;
        s->held += (uint32_t)part;
        from += part;
        len -= part;
    }
    return true;
}

#define LITERAL(s, text) append(s, "" text, sizeof(text) - 1)

/* ===== heads ===== */

/* HTTP/1.1 has another way to ask for it, with a key that only guards against
 * caches that do not know it (RFC 6455, 1.3): any will do. */
static bool take_extended(struct stream *s, const struct http2_head *h)
{
    const struct http1_head *head = h->head;
    return LITERAL(s, "GET ") &&
           append(s, h->text + head->target, head->target_len) &&
           LITERAL(s, " HTTP/1.1\r\n"
                      "connection: upgrade\r\n"
                      "sec-websocket-key: AAECAwQFBgcICQoLDA0ODw==\r\n"
                      "upgrade: ") &&
           append(s, h->protocol, strlen(h->protocol)) && LITERAL(s, "\r\n") &&
           append(s, h->text + head->fields_at,
                  (size_t)(head->head_len - head->fields_at));
}

/* Whether a body may follow, whose end HTTP/1.1 must be told. */
static bool has_body(const struct stream *s, const struct http1_head *head)
{
    if (s->mux->http2.role == HTTP2_SERVER)
        return head->method_id != HTTP1_CONNECT;
    return head->status != 204 && head->status != 304 && s->asked != HTTP1_HEAD;
}

/* A request with a body of length 0 is not one without a body, where its method
 * expects one. */
static bool expects_body(const struct stream *s, const struct http1_head *head)
{
    return s->mux->http2.role == HTTP2_CLIENT ||
           head->method_id == HTTP1_POST || head->method_id == HTTP1_PUT ||
           head->method_id == HTTP1_PATCH;
}

/* Accepted: what HTTP/1.1 says then. */
static bool take_switch(struct stream *s, const struct http2_head *h)
{
    const struct stream_switch *asks = &s->asks;
    s->tunnel = true;
    return LITERAL(s, "HTTP/1.1 101 Switching Protocols\r\n"
                      "connection: upgrade\r\nupgrade: ") &&
           append(s, asks->protocol, strlen(asks->protocol)) &&
           (!asks->accept[0] ||
            (LITERAL(s, "\r\nsec-websocket-accept: ") &&
             append(s, asks->accept, SWITCH_ACCEPT))) &&
           LITERAL(s, "\r\n") &&
           append(s, h->text + h->head->fields_at,
                  (size_t)(h->head->head_len - h->head->fields_at));
}

/* The status of a gRPC call is in the trailers, for which there is a place after
 * chunks only. */
static bool drops_length(const struct stream *s, const struct http2_head *h)
{
    return s->mux->http2.role == HTTP2_CLIENT && !h->end &&
           h->head->has_length && has_body(s, h->head) &&
           http1_is_grpc(h->head, h->text);
}

/* Without the empty line. */
static bool append_lines(struct stream *s, const struct http2_head *h)
{
    size_t len = h->head->head_len - 2u;
    if (!drops_length(s, h))
        return append(s, h->text, len);
    const struct http1_field *f = http1_find(h->head, HTTP1_ID_CONTENT_LENGTH);
    size_t after = (size_t)f->line + f->line_len;
    return append(s, h->text, f->line) &&
           append(s, h->text + after, len - after);
}

static bool take_framing(struct stream *s, const struct http2_head *h)
{
    if ((h->head->has_length && !drops_length(s, h)) || !has_body(s, h->head))
        return true;
    if (h->end)
        return !expects_body(s, h->head) || LITERAL(s, "content-length: 0\r\n");
    s->receiving = STREAM_CHUNKS;
    return LITERAL(s, "transfer-encoding: chunked\r\n");
}

/* A request that is too large is answered, in its own way: what there is of it must not
 * look like all. A response that is has no use. */
static bool take_part(struct stream *s, const struct http2_head *h, bool server)
{
    bool grpc = server && http1_is_grpc(h->head, h->text);
    s->error = (int16_t)h->error;
    s->asked = h->head->method_id;
    s->receiving = h->end ? STREAM_RECEIVED : STREAM_PLAIN;
    return server && LITERAL(s, "GET / HTTP/1.1\r\n") &&
           (!grpc || LITERAL(s, "content-type: application/grpc\r\n"));
}

bool stream_take_head(struct stream *s, const struct http2_head *h)
{
    const struct http1_head *head = h->head;
    bool server = s->mux->http2.role == HTTP2_SERVER;
    bool fine;

    if (h->error)
        return take_part(s, h, server);
    if (!server && head->status < 200)
        return append(s, h->text, head->head_len);
    if (server)
        s->asked = h->protocol ? HTTP1_GET : head->method_id;
    s->receiving = STREAM_PLAIN;
    if (server && h->protocol) {
        s->extended = true;
        fine = take_extended(s, h);
    } else if (s->extended && head->status / 100 == 2) {
        fine = take_switch(s, h);
    } else {
        fine = append_lines(s, h) && take_framing(s, h) &&
               LITERAL(s, "\r\n");
    }
    if (h->end)
        s->receiving = STREAM_RECEIVED;
    return fine;
}

/* ===== bodies ===== */

static bool take_end(struct stream *s)
{
    bool chunks = s->receiving == STREAM_CHUNKS;
    s->receiving = STREAM_RECEIVED;
    return !chunks || LITERAL(s, "0\r\n\r\n");
}

/* The line before a chunk, "1f40\r\n". */
enum { SIZE_LINE = 20 };

static uint32_t size_line(char line[SIZE_LINE], size_t size)
{
    uint32_t n = 1;
    while (n < 2 * sizeof size && size >> 4 * n)
        n++;
    for (uint32_t i = n; i-- > 0; size >>= 4)
        line[i] = "0123456789abcdef"[size & 15];
    memcpy(line + n, "\r\n", 2);
    return n + 2;
}

static bool append_chunk(struct stream *s, const void *data, size_t len)
{
    struct net_buf *last = s->in_last;
    uint32_t at = last ? last->end : 0;
    char line[SIZE_LINE];
    if (!append(s, line, size_line(line, len)) || !append(s, data, len) ||
        !LITERAL(s, "\r\n"))
        return false;
    s->chunk = s->in_last == last ? (uint32_t)len : 0;
    s->chunk_at = at;
    return true;
}

/* While nobody has read of it, a chunk that lies in one buffer grows with what
 * arrives: a peer that sends a byte in each frame would else have six of ours for
 * each of its own. False: it cannot. */
static bool grow_chunk(struct stream *s, const void *data, size_t len)
{
    struct net_buf *b = s->in_last;
    char line[SIZE_LINE], before[SIZE_LINE];
    if (s->chunk == 0 || b->begin > s->chunk_at)
        return false;
    uint32_t old = size_line(before, s->chunk);
    uint32_t now = size_line(line, s->chunk + len);
    uint32_t more = (uint32_t)len + now - old;
    if (net_buf_space(b) < more)
        return false;
    char *at = b->data + s->chunk_at;
    memmove(at + now, at + old, s->chunk);
    memcpy(at, line, now);
    memcpy(at + now + s->chunk, data, len);
    memcpy(at + now + s->chunk + len, "\r\n", 2);
    s->chunk += (uint32_t)len;
    s->held += more;
    b->end += more;
    return true;
}

bool stream_take_data(struct stream *s, const void *data, size_t len, bool end)
{
    bool fine = true;
    s->owed += (uint32_t)len;
    if (s->receiving == STREAM_CHUNKS && len > 0)
        fine = grow_chunk(s, data, len) || append_chunk(s, data, len);
    else if (len > 0)
        fine = append(s, data, len);
    return fine && (!end || take_end(s));
}

/* After a body with a length HTTP/1.1 has no place for them. A request with trailers that
 * are too large has no end, and is answered; a response can do without. */
bool stream_take_trailers(struct stream *s, const struct http2_head *h)
{
    const struct http1_head *head = h->head;
    bool chunks = s->receiving == STREAM_CHUNKS;
    if (h->error && s->mux->http2.role == HTTP2_SERVER) {
        s->error = (int16_t)h->error;
        s->receiving = STREAM_RECEIVED;
        return true;
    }
    if (!chunks || h->error || head->n_fields == 0)
        return take_end(s);
    const struct http1_field *first = &head->fields[0];
    const struct http1_field *last = &head->fields[head->n_fields - 1];
    s->receiving = STREAM_RECEIVED;
    return LITERAL(s, "0\r\n") &&
           append(s, h->text + first->line,
                  (size_t)(last->line + last->line_len - first->line)) &&
           LITERAL(s, "\r\n");
}

/* ===== reading ===== */

static void give_first(struct stream *s)
{
    struct net_buf *b = s->in;
    s->in = b->next;
    if (!s->in) {
        s->in_last = NULL;
        s->chunk = 0;
    }
    net_buf_give(s->mux->bufs, b);
}

/* Text is a little longer than what it was made of: the window opens for no more
 * than there is room again, and for all of it when all is read. */
static void repay(struct stream *s)
{
    if (s->owed <= s->held)
        return;
    uint32_t part = s->owed - s->held;
    s->owed -= part;
    if (s->dead)
        return;
    http2_consumed(&s->below, part);
    if (s->receiving != STREAM_RECEIVED)
        mux_later(s->mux);
}

ssize_t stream_read(struct net_conn *c, void *buf, size_t n)
{
    struct stream *s = c->session;
    char *to = buf;
    size_t got = 0;
    while (s->in && got < n) {
        size_t len = net_buf_len(s->in), part = len < n - got ? len : n - got;
        memcpy(to + got, net_buf_at(s->in), part);
        s->in->begin += (uint32_t)part;
        s->held -= (uint32_t)part;
        got += part;
        if (part == len)
            give_first(s);
    }
    bool ends = s->dead || s->error ||
                (s->receiving == STREAM_RECEIVED && s->tunnel);
    c->readable = s->in || (got > 0 && ends);
    if (got > 0) {
        repay(s);
        return (ssize_t)got;
    }
    if (s->error)
        return NET_ERROR;
    if (s->receiving == STREAM_RECEIVED)
        return s->tunnel ? 0 : NET_AGAIN;
    return s->dead ? NET_ERROR : NET_AGAIN;
}
