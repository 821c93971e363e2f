/* net/http2/data.c: DATA that arrives. */
#include "net/http2/data.h"

#include "net/http2/fault.h"
#include "net/http2/queue.h"
#include "net/http2/receive.h"
#include "net/http2/stream.h"

/* Where there is no stream that it could be for. */
static bool on_no_stream(struct http2_conn *c)
{
    if (http2__is_idle(c, c->frame.id))
        http2_fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_FRAME_STATE);
    else if (!http2__was_reset(c, c->frame.id))
        http2_fail(c, HTTP2_STREAM_CLOSED, HTTP2_WHY_CLOSED);
    return false;
}

bool http2__data_begin(struct http2_conn *c)
{
    struct http2_stream *s = http2__find(c, c->frame.id);
    uint32_t len = c->frame.len, id = c->frame.id;

    if (id == 0) {
        http2_fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_FRAME_STREAM);
        return false;
    }
    if ((int64_t)len > c->recv_window) {
        http2_fail(c, HTTP2_FLOW_CONTROL_ERROR, HTTP2_WHY_FLOW);
        return false;
    }
    c->recv_window -= (int32_t)len;
    c->unreturned += len;
    if (len == 0 && !(c->frame.flags & HTTP2__END_STREAM) &&
        !http2__control(c, false))
        return false;
    if (!s)
        return on_no_stream(c);
    if (s->flags & HTTP2_DEAD)
        return false;
    if (s->flags & HTTP2_IN_ENDED)
        http2__stream_error(c, id, HTTP2_STREAM_CLOSED, HTTP2_WHY_CLOSED);
    else if (!(s->flags & HTTP2_HEAD_IN))
        http2__stream_error(c, id, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_FRAME_STATE);
    else if ((int64_t)len > s->recv_window)
        http2__stream_error(c, id, HTTP2_FLOW_CONTROL_ERROR, HTTP2_WHY_FLOW);
    else
        s->recv_window -= (int32_t)len;
    return !c->failed && (s = http2__find(c, id)) && !http2_is_over(s) &&
           !(s->flags & HTTP2_IN_ENDED);
}

/* RFC 9113, 8.1.1: the lengths of all DATA are what content-length says. */
static bool length_lies(const struct http2_stream *s, uint64_t n, bool end)
{
    if (!(s->flags & HTTP2_LENGTH_IN))
        return false;
    return end ? n != s->in_left : n > s->in_left;
}

bool http2__data_sized(struct http2_conn *c, uint32_t n)
{
    struct http2_stream *s = http2__find(c, c->frame.id);
    bool end = c->frame.flags & HTTP2__END_STREAM;

    if (length_lies(s, n, end)) {
        http2__stream_error(c, s->id, HTTP2_PROTOCOL_ERROR,
                            HTTP2_WHY_LENGTH_LIES);
        return false;
    }
    if (n == 0 && c->frame.len > 0 && !end && !http2__control(c, false))
        return false; /* padding alone says no more than nothing does */
    s->in_left -= s->flags & HTTP2_LENGTH_IN ? n : 0;
    s->consumed += c->frame.len - n; /* padding */
    http2_consumed(s, 0);
    return true;
}

void http2__data(struct http2_conn *c, const char *bytes, size_t n)
{
    struct http2_stream *s = http2__find(c, c->frame.id);
    bool end = c->frame.flags & HTTP2__END_STREAM && c->left - c->padding == n;

    if (!s || s->flags & HTTP2_DEAD)
        return;
    s->unconsumed += (uint32_t)n;
    c->unconsumed += (uint32_t)n;
    if (end)
        s->flags |= HTTP2_IN_ENDED;
    c->calls->data(s, bytes, n, end);
}
