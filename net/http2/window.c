/* net/http2/window.c: windows that open again.
 *
 * The connection's opens when data has arrived, not when it is consumed: so a
 * stream that nobody reads holds its own window, and no more. What is then held
 * in all, streams times their windows, must fit into conf.memory_bytes; as soon
 * as it might not, the connection's window waits for what is consumed. */
#include "net/http2/data.h"
#include "net/http2/queue.h"
#include "net/http2/receive.h"
#include "net/http2/send.h"

static bool fits(const struct http2_conn *c)
{
    uint64_t out = c->queued - c->written;
    uint64_t reserve = c->conf->memory_bytes / HTTP2__OUT_SHARE;

    return c->unconsumed + (out > reserve ? out : reserve) +
               c->conf->connection_window <=
           c->conf->memory_bytes;
}

void http2__return_window(struct http2_conn *c)
{
    if (c->unreturned < c->conf->connection_window / 2 || c->failed || !fits(c))
        return;
    http2__queue_window(c, 0, c->unreturned);
    c->recv_window += (int32_t)c->unreturned;
    c->unreturned = 0;
}

void http2_consumed(struct http2_stream *s, size_t n)
{
    struct http2_conn *c = s->conn;

    s->unconsumed -= (uint32_t)n;
    c->unconsumed -= (uint32_t)n;
    http2__return_window(c);
    s->consumed += (uint32_t)n;
    if (s->consumed < c->conf->window / 2 || c->failed ||
        s->flags & (HTTP2_IN_ENDED | HTTP2_DEAD))
        return;
    http2__queue_window(c, s->id, s->consumed);
    s->recv_window += (int32_t)s->consumed;
    s->consumed = 0;
}
