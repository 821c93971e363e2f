/* net/http2/receive.h: what arrives on a connection.
 *
 *     ssize_t n = net_read(conn, buf, size);
 *     if (n > 0 && http2_receive(&c, buf, (size_t)n, now_ns) < 0)
 *         hang_up_when_sent(&c); */
#ifndef BIDE_NET_HTTP2_RECEIVE_H
#define BIDE_NET_HTTP2_RECEIVE_H

#include "net/http2/conn.h"

/* Takes all bytes. Negative: the connection has failed, now or before; GOAWAY is
 * queued, all streams have been closed, c->why says why. */
int http2_receive(struct http2_conn *c, const char *bytes, size_t n,
                  int64_t now_ns);

/* So many bytes of data() are no longer held. */
void http2_consumed(struct http2_stream *s, size_t n);

#endif
