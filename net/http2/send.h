/* net/http2/send.h: streams, their bodies, and the bytes to write.
 *
 *     struct iovec iov[HTTP2_IOV];
 *     int n;
 *     while ((n = http2_fill(&c, iov)) > 0) {
 *         ssize_t put = net_writev(conn, iov, n);
 *         if (put <= 0)
 *             break;
 *         http2_written(&c, (size_t)put);
 *     }
 *
 * Streams take turns: a frame each, as their windows allow. Small pieces are
 * copied, so that many answers leave in one buffer; larger ones are written
 * from where they are. */
#ifndef BIDE_NET_HTTP2_SEND_H
#define BIDE_NET_HTTP2_SEND_H

#include "net/http2/conn.h"

/* The next bytes to write, as at most HTTP2_IOV pieces; 0: none now. They stay
 * the next until http2_written() says that they, or some of them, were
 * written. */
int http2_fill(struct http2_conn *c, struct iovec iov[HTTP2_IOV]);
void http2_written(struct http2_conn *c, size_t n);

/* Whether http2_fill() has something, or something to tell. */
bool http2_wants_write(const struct http2_conn *c);

/* Gives the next piece of the body, when the one before was taken; the bytes
 * stay where they are until taken() has reported them all, or the stream is
 * released. `end`: it is the last, and may be empty. */
void http2_send(struct http2_stream *s, const char *bytes, size_t n, bool end);

/* Server: makes a cleared `s` the stream of the request that calls->request() is
 * being told of. Nowhere else. */
void http2_accept(struct http2_conn *c, struct http2_stream *s);

/* How many streams a client may open now. */
uint32_t http2_may_open(const struct http2_conn *c);

/* Client: makes a cleared `s` a stream, whose head is to be written at once.
 * False: none may be opened. */
bool http2_open(struct http2_conn *c, struct http2_stream *s);

/* The owner has done with it: the stream may be freed. If both sides had not
 * ended, the peer gets RST_STREAM with that code; a side has when its END_STREAM
 * has come, or was put into a frame: a last piece must have been taken first.
 * A server that has answered and does not want the rest says NO_ERROR. */
void http2_release(struct http2_stream *s, enum http2_code code);

/* Whether both sides have ended. */
static inline bool http2_is_over(const struct http2_stream *s)
{
    const unsigned both = HTTP2_IN_ENDED | HTTP2_OUT_ENDED;

    return (s->flags & both) == both || s->flags & HTTP2_DEAD;
}

#endif
