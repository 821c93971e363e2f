/* net/http2/block.c: heads, as they arrive. */
#include "net/http2/block.h"

#include <nghttp2/nghttp2.h>

#include "net/http2/drain.h"
#include "net/http2/fault.h"
#include "net/http2/head.h"
#include "net/http2/queue.h"
#include "net/http2/stream.h"

/* ===== what kind of head it is ===== */

/* For a stream that is known. */
static enum http2__kind kind_on_stream(const struct http2_conn *c,
                                       const struct http2_stream *s,
                                       enum http2_why *ret_why)
{
    if (s->flags & HTTP2_DEAD)
        return HTTP2__NO_HEAD;
    if (s->flags & HTTP2_IN_ENDED) {
        *ret_why = HTTP2_WHY_CLOSED;
        return HTTP2__NO_HEAD;
    }
    if (c->role == HTTP2_CLIENT && !(s->flags & HTTP2_HEAD_IN))
        return HTTP2__RESPONSE_HEAD;
    if (!(c->frame.flags & HTTP2__END_STREAM))
        *ret_why = HTTP2_WHY_TRAILER_END;
    return HTTP2__TRAILER_HEAD;
}

/* For one that is not: a new one; or one that is gone, which is an error unless
 * the frame may have been under way when we reset it. False: failed. */
static bool kind_on_none(struct http2_conn *c, enum http2__kind *ret_kind)
{
    uint32_t id = c->frame.id;

    *ret_kind = HTTP2__NO_HEAD;
    if (c->role == HTTP2_SERVER && http2__is_idle(c, id) && id & 1) {
        http2__forget_reset(c, c->last_id ? c->last_id + 2 : 1, id);
        c->last_id = id;
        if (http2_is_shut(c))
            http2__note_reset(c, id);
        else
            *ret_kind = HTTP2__REQUEST_HEAD;
    } else if (http2__is_idle(c, id)) {
        http2_fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_STREAM_ID);
    } else if (!http2__was_reset(c, id)) {
        http2_fail(c, HTTP2_STREAM_CLOSED, HTTP2_WHY_CLOSED);
    }
    return !c->failed;
}

void http2__block_begin(struct http2_conn *c)
{
    struct http2_stream *s = http2__find(c, c->frame.id);
    enum http2_why why = HTTP2_WHY_NONE;
    enum http2__kind kind = HTTP2__NO_HEAD;

    if (c->frame.id == 0) {
        http2_fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_FRAME_STREAM);
        return;
    }
    if (s)
        kind = kind_on_stream(c, s, &why);
    else if (!kind_on_none(c, &kind))
        return;
    if (!http2__partial_begin(c, kind, s && s->flags & HTTP2_NO_BODY)) {
        http2_fail(c, HTTP2_INTERNAL_ERROR, HTTP2_WHY_MEMORY);
        return;
    }
    c->partial->why = (uint8_t)why;
    c->partial->due_ns = c->now_ns + c->conf->head_ns;
    c->partial->last = c->frame.flags & HTTP2__END_HEADERS;
}

void http2__continuation_begin(struct http2_conn *c)
{
    if (!c->partial) {
        http2_fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_INTERLEAVED);
        return;
    }
    c->partial->last = c->frame.flags & HTTP2__END_HEADERS;
    if (++c->partial->continuations > c->conf->continuations)
        http2_fail(c, HTTP2_ENHANCE_YOUR_CALM, HTTP2_WHY_CONTINUATIONS);
}

/* ===== complete ===== */

static void refuse(struct http2_conn *c, uint32_t id)
{
    http2__note_reset(c, id);
    http2__queue_reset(c, id, HTTP2_REFUSED_STREAM);
    http2__count_unsent(c);
}

void http2__expect_body(struct http2_stream *s, const struct http2_partial *p)
{
    const struct http1_head *h = &p->head;

    if (p->end)
        s->flags |= HTTP2_IN_ENDED;
    if (p->error || (!h->has_length && h->framing != HTTP1_NO_BODY))
        return;
    s->flags |= HTTP2_LENGTH_IN;
    s->in_left = h->framing == HTTP1_LENGTH ? h->content_length : 0;
}

static void on_request(struct http2_conn *c, const struct http2_partial *p,
                       const struct http2_head *h)
{
    if (c->n_streams >= c->conf->streams ||
        c->queued - c->written > c->conf->memory_bytes / HTTP2__OUT_SHARE / 2) {
        c->shared->counts[HTTP2_WHY_STREAMS]++;
        refuse(c, p->id);
        return;
    }
    c->asking = p->id;
    c->asked = p;
    c->calls->request(c, h);
    if (c->asking && !c->failed)
        refuse(c, p->id);
    c->asking = 0;
}

static void on_response(struct http2_conn *c, const struct http2_partial *p,
                        const struct http2_head *h)
{
    struct http2_stream *s = http2__find(c, p->id);

    if (!s || s->flags & HTTP2_DEAD)
        return;
    if (h->head->status >= 200 || p->error) {
        s->flags |= HTTP2_HEAD_IN;
        http2__expect_body(s, p);
    }
    c->calls->response(s, h);
}

static void on_trailers(struct http2_conn *c, const struct http2_partial *p,
                        const struct http2_head *h)
{
    struct http2_stream *s = http2__find(c, p->id);

    if (!s || s->flags & HTTP2_DEAD)
        return;
    if (s->flags & HTTP2_LENGTH_IN && s->in_left > 0) {
        http2__stream_error(c, p->id, HTTP2_PROTOCOL_ERROR,
                            HTTP2_WHY_LENGTH_LIES);
        return;
    }
    s->flags |= HTTP2_IN_ENDED;
    c->calls->trailers(s, h);
}

static void tell(struct http2_conn *c, const struct http2_partial *p)
{
    struct http2_head h = {
        .head = &p->head,
        .text = p->text,
        .protocol = p->protocol[0] ? p->protocol : NULL,
        .https = p->https,
        .end = p->end,
        .error = p->error,
    };

    if (p->why) {
        http2__stream_error(c, p->id,
                            p->why == HTTP2_WHY_CLOSED ? HTTP2_STREAM_CLOSED
                                                       : HTTP2_PROTOCOL_ERROR,
                            p->why);
        return;
    }
    if (p->error)
        c->shared->counts[HTTP2_WHY_HEAD_SIZE]++;
    if (p->kind == HTTP2__REQUEST_HEAD)
        on_request(c, p, &h);
    else if (p->kind == HTTP2__RESPONSE_HEAD)
        on_response(c, p, &h);
    else if (p->kind == HTTP2__TRAILER_HEAD)
        on_trailers(c, p, &h);
}

/* The head leaves the connection first: what is called may fail it. */
static void complete(struct http2_conn *c)
{
    struct http2_partial *p = c->partial;
    struct http2_shared *shared = c->shared;

    c->partial = NULL;
    nghttp2_hd_inflate_end_headers(c->inflater);
    http2__partial_finish(p);
    tell(c, p);
    net_buf_give(&shared->heads, p->buf);
}

/* ===== decoded ===== */

static void undecodable(struct http2_conn *c, ssize_t error)
{
    if (error == NGHTTP2_ERR_NOMEM)
        http2_fail(c, HTTP2_INTERNAL_ERROR, HTTP2_WHY_MEMORY);
    else
        http2_fail(c, HTTP2_COMPRESSION_ERROR, HTTP2_WHY_HPACK);
}

void http2__block(struct http2_conn *c, const uint8_t *bytes, size_t n,
                  bool end)
{
    bool final = end && c->partial->last;
    nghttp2_nv nv;
    int flags = 0;

    do {
        ssize_t took =
            nghttp2_hd_inflate_hd2(c->inflater, &nv, &flags, bytes, n, final);
        if (took < 0) {
            undecodable(c, took);
            return;
        }
        bytes += took;
        n -= (size_t)took;
        if (flags & NGHTTP2_HD_INFLATE_EMIT)
            http2__partial_field(c->partial, (const char *)nv.name, nv.namelen,
                                 (const char *)nv.value, nv.valuelen);
    } while (flags & NGHTTP2_HD_INFLATE_EMIT ||
             (n > 0 && !(flags & NGHTTP2_HD_INFLATE_FINAL)));
    if (final)
        complete(c);
}
