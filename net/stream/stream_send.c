/* What a stream sends: text in, fields and data out.
 *
 * Bodies are copied into buffers of the stream, which outlive what they were
 * written from: whoever writes is done when the last byte is here, and the stream
 * sends on by itself. At most STREAM_QUEUE buffers; then it blocks. All streams of a
 * connection together have OUT_SHARE of its memory for them; over that, one each: so
 * that a peer that reads none of a hundred responses holds no more than it may. */
#include <string.h>

#include "net/http1/media.h"
#include "net/stream/mux.h"
#include "net/stream/stream_io.h"

enum { OUT_SHARE = 4 }; /* one part of so many of http2_conf.memory_bytes */

/* ... and so many of heads that are not sent yet, before interim ones are left out. */
enum { HEADS_SHARE = 32 };

/* ===== the queue ===== */

static void give_first(struct stream *s)
{
    struct net_buf *b = s->out;
    s->out = b->next;
    s->n_out--;
    s->mux->n_out--;
    if (!s->out)
        s->out_last = NULL;
    net_buf_give(s->mux->bufs, b);
}

static void send_trailer(struct stream *s)
{
    struct net_buf *b = s->trailer;
    http2_head_begin(&s->below);
    http2_put_lines(&s->below, net_buf_at(b), net_buf_len(b));
    http2_head_end(&s->below, true);
    net_buf_give(s->mux->bufs, b);
    s->trailer = NULL;
}

/* Hands over the next buffer, or says that it was the last. */
static void push(struct stream *s)
{
    struct net_buf *b = s->out;
    bool sent = s->sending == STREAM_SENT;
    if (s->under_way || s->ended || s->dead)
        return;
    if (b) {
        s->under_way = true;
        s->ended = sent && !b->next && !s->trailer;
        http2_send(&s->below, net_buf_at(b), net_buf_len(b), s->ended);
    } else if (sent) {
        s->ended = true;
        if (s->trailer)
            send_trailer(s);
        else
            http2_send(&s->below, "", 0, true);
    } else {
        return;
    }
    mux_later(s->mux);
}

void stream_taken(struct stream *s, size_t n)
{
    if (!s->out)
        return;
    s->out->begin += (uint32_t)n;
    if (net_buf_len(s->out) > 0)
        return;
    give_first(s);
    s->under_way = false;
    push(s);
    if (s->blocked)
        stream_wake(s, EPOLLOUT);
}

/* Room for more: bytes that can be taken now. */
static size_t room(const struct stream *s)
{
    size_t size = s->mux->bufs->size;
    bool fresh = !s->out_last || (s->under_way && s->out == s->out_last);
    size_t left = fresh ? 0 : net_buf_space(s->out_last);
    size_t more = (size_t)(STREAM_QUEUE - s->n_out);
    size_t most = s->mux->conf.memory_bytes / OUT_SHARE / size;
    size_t spare = most > s->mux->n_out ? most - s->mux->n_out : 0;
    if (more > spare)
        more = s->n_out == 0 && spare == 0 ? 1 : spare;
    return left + more * size;
}

/* No more than there is room for. False: no memory. */
static bool enqueue(struct stream *s, const char *from, size_t len)
{
    while (len > 0) {
        struct net_buf *b = s->out_last;
        if (!b || (s->under_way && b == s->out) || net_buf_space(b) == 0) {
            if (!(b = net_buf_take(s->mux->bufs)))
                return false;
            *(s->out ? &s->out_last->next : &s->out) = b;
            s->out_last = b;
            s->n_out++;
            s->mux->n_out++;
        }
        size_t part = net_buf_space(b) < len ? net_buf_space(b) : len;
        memcpy(net_buf_room(b), from, part);
        b->end += (uint32_t)part;
        from += part;
        len -= part;
    }
    return true;
}

/* ===== heads ===== */

/* What HTTP/2 asks for in another way: false, the peer does not know that. */
static bool read_switch(struct stream *s, const struct http1_head *h,
                        const char *text)
{
    s->extended = h->upgrade;
    return !h->upgrade || (s->mux->http2.peer.connect_protocol &&
                           switch_read(&s->asks, h, text));
}

/* gRPC wants to be told that nobody on the way loses trailers. */
static void put_request(struct stream *s, const struct http1_head *h,
                        const char *text)
{
    const struct http2_request r = {
        .method = s->extended ? "CONNECT" : text + h->method,
        .method_len = s->extended ? 7 : h->method_len,
        .protocol = s->extended ? s->asks.protocol : NULL,
        .scheme = s->mux->conn && s->mux->conn->session ? "https" : "http",
        .authority = text + h->host,
        .authority_len = h->host_len,
        .path = text + h->target,
        .path_len = h->target_len,
    };
    http2_put_request(&s->below, &r);
    if (http1_is_grpc(h, text))
        http2_put(&s->below, "te", 2, "trailers", 8);
}

static void put_fields(struct stream *s, const struct http1_head *h,
                       const char *text)
{
    const struct http1_field *key = s->extended ? switch_key(h, text) : NULL;
    for (unsigned i = 0; i < h->n_fields; i++)
        if (&h->fields[i] != key)
            http2_put_field(&s->below, &h->fields[i], text);
}

/* Another protocol begins with a 200 there (RFC 8441): a server that does not
 * switch must not look as if it did. */
static unsigned status_of(const struct stream *s, const struct http1_head *h)
{
    if (h->framing == HTTP1_TUNNEL)
        return 200;
    return s->extended && h->status / 100 == 2 ? 502 : h->status;
}

static enum stream_out after_head(const struct stream *s,
                                  const struct http1_head *h)
{
    bool asks = s->mux->http2.role == HTTP2_CLIENT;
    if (asks ? s->extended : h->framing == HTTP1_TUNNEL)
        return STREAM_TUNNEL;
    if (!asks && h->status < 200)
        return STREAM_HEAD;
    return h->framing == HTTP1_NO_BODY ? STREAM_SENT : STREAM_BODY;
}

/* An endpoint may say "103" without end, to a client that reads none of it. Heads have
 * no window: what is not the answer is passed on as long as there is room. */
static bool leaves_out(const struct stream *s, const struct http1_head *h,
                       bool asks)
{
    const struct http2_conn *c = &s->mux->http2;
    return !asks && h->status < 200 && h->framing != HTTP1_TUNNEL &&
           c->queued - c->written > s->mux->conf.memory_bytes / HEADS_SHARE;
}

/* Returns its length; negative: it cannot be sent. */
static int send_head(struct stream *s, const char *text, size_t len)
{
    struct http1_field fields[STREAM_FIELDS];
    struct http1_head h;
    bool asks = s->mux->http2.role == HTTP2_CLIENT;
    if (asks)
        http1_request_init(&h, fields, STREAM_FIELDS, HTTP1_HEAD_MOST);
    else
        http1_response_init(&h, fields, STREAM_FIELDS, HTTP1_HEAD_MOST,
                            (enum http1_method)s->asked, s->extended);
    int n = http1_parse(&h, text, len);
    if (n <= 0)
        return NET_ERROR;
    if (leaves_out(s, &h, asks))
        return n;
    if (asks && (!read_switch(s, &h, text) || !mux_begin(s->mux, s)))
        return NET_ERROR;
    if (asks)
        s->asked = h.method_id;
    enum stream_out then = after_head(s, &h);
    http2_head_begin(&s->below);
    if (asks)
        put_request(s, &h, text);
    else
        http2_put_status(&s->below, status_of(s, &h));
    put_fields(s, &h, text);
    s->ended = then == STREAM_SENT;
    if (http2_head_end(&s->below, s->ended) < 0)
        return NET_ERROR;
    s->sending = (uint8_t)then;
    s->tunnel = s->tunnel || (!asks && then == STREAM_TUNNEL);
    http1_body_init(&s->body, (enum http1_framing)h.framing, h.content_length);
    http1_body_max_trailer(&s->body, STREAM_FIELDS, HTTP1_HEAD_MOST);
    mux_later(s->mux);
    return n;
}

/* ===== bodies ===== */

static bool keep_trailer(struct stream *s, const char *text, size_t len)
{
    if (len <= 2)
        return true;
    if (!(s->trailer = net_buf_take(s->mux->bufs)) ||
        net_buf_space(s->trailer) < len)
        return false;
    memcpy(s->trailer->data, text, len - 2);
    s->trailer->end = (uint32_t)(len - 2);
    return true;
}

/* One step: how much of it was used; 0: it blocks; or NET_ERROR. */
static ssize_t send_body(struct stream *s, const char *text, size_t len)
{
    struct http1_piece piece;
    struct http1_body before = s->body;
    size_t most = room(s);
    int rc = http1_body_next(&s->body, text, len, &piece);
    if (rc == HTTP1_DATA && piece.data_len > most) {
        s->body = before;
        if (most == 0)
            return 0;
        rc = http1_body_next(&s->body, text, piece.data + most, &piece);
    }
    if (rc < 0 ||
        !enqueue(s, text + piece.data, rc == HTTP1_END ? 0 : piece.data_len))
        return NET_ERROR;
    bool last = s->body.framing == HTTP1_LENGTH && s->body.left == 0;
    if (rc == HTTP1_END || last) {
        s->sending = STREAM_SENT;
        if (!last &&
            !keep_trailer(s, text + piece.data, piece.consumed - piece.data))
            return NET_ERROR;
    }
    return (ssize_t)piece.consumed;
}

static ssize_t send_some(struct stream *s, const char *text, size_t len)
{
    switch ((enum stream_out)s->sending) {
    case STREAM_HEAD:
        return send_head(s, text, len);
    case STREAM_BODY:
        return send_body(s, text, len);
    case STREAM_TUNNEL:
        len = len < room(s) ? len : room(s);
        return enqueue(s, text, len) ? (ssize_t)len : NET_ERROR;
    default:
        return NET_ERROR; /* nothing may follow */
    }
}

ssize_t stream_writev(struct net_conn *c, const struct iovec *iov, int n)
{
    struct stream *s = c->session;
    ssize_t all = 0, rc = 1;
    for (int i = 0; i < n && rc > 0; i++) {
        const char *text = iov[i].iov_base;
        for (size_t at = 0; at < iov[i].iov_len; at += (size_t)rc) {
            rc = s->dead ? NET_ERROR
                         : send_some(s, text + at, iov[i].iov_len - at);
            if (rc <= 0)
                break;
            all += rc;
        }
    }
    push(s);
    c->writable = rc > 0;
    s->blocked = rc == 0;
    return all > 0 ? all : rc == 0 ? NET_AGAIN : NET_ERROR;
}

void stream_end_tunnel(struct stream *s)
{
    if (s->sending != STREAM_TUNNEL || s->dead)
        return;
    s->sending = STREAM_SENT;
    push(s);
}
