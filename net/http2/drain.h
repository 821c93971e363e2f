/* net/http2/drain.h: what a connection does by the clock, and how it ends in
 * order.
 *
 *     net_timer_set(loop, &timer, http2_due_ns(&c));
 *     ...
 *     if (http2_expire(&c, now_ns) < 0)
 *         hang_up_when_sent(&c);
 *
 * A server that ends a connection says GOAWAY twice. The first names no last
 * stream, so that requests that are on their way are served; the second, when a
 * PING sent with the first has come back, names the last one that was. */
#ifndef BIDE_NET_HTTP2_DRAIN_H
#define BIDE_NET_HTTP2_DRAIN_H

#include "net/http2/conn.h"

/* When http2_expire() is to be called, BIDE_FOREVER: not at all; and that it is
 * time. It returns what http2_receive() does. */
int64_t http2_due_ns(const struct http2_conn *c);
int http2_expire(struct http2_conn *c, int64_t now_ns);

/* Sends a PING, unless one is under way. pong() tells when it is answered. */
void http2_ping(struct http2_conn *c, int64_t now_ns);

/* Begins to end it. A client opens no more streams. Close it when n_streams is
 * 0, http2_is_shut() and all is written. */
void http2_shutdown(struct http2_conn *c, int64_t now_ns);

/* Whether the last GOAWAY is queued. */
bool http2_is_shut(const struct http2_conn *c);

/* A PING of ours may have come back. */
void http2__pong(struct http2_conn *c, const uint8_t opaque[8]);

#endif
