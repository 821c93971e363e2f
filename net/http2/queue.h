/* net/http2/queue.h: what waits to be written, in order: bytes in buffers, and
 * pieces of bodies that stay where they are (send.c). */
#ifndef BIDE_NET_HTTP2_QUEUE_H
#define BIDE_NET_HTTP2_QUEUE_H

#include "net/http2/frame.h"

/* Room for n bytes in one piece, at most a buffer's, which http2__queue() then
 * takes as written; NULL: no memory, and c->broken is set. */
char *http2__room(struct http2_conn *c, uint32_t n);
static inline void http2__queue(struct http2_conn *c, uint32_t n)
{
    c->out_last->end += n;
    c->queued += n;
}

/* Adds a buffer to the end; NULL: no memory. */
struct net_buf *http2__add_buf(struct http2_conn *c);

/* Control frames. */
void http2__queue_settings(struct http2_conn *c);
void http2__queue_settings_ack(struct http2_conn *c);
void http2__queue_ping(struct http2_conn *c, const uint8_t opaque[8], bool ack);
void http2__queue_goaway(struct http2_conn *c, uint32_t last, uint32_t code);
void http2__queue_reset(struct http2_conn *c, uint32_t id, uint32_t code);
void http2__queue_window(struct http2_conn *c, uint32_t id, uint32_t by);

/* What the peer made us say counts as unsent until it is written: too much of
 * that fails the connection. SETTINGS and PING are counted where they are
 * acknowledged, RST_STREAM where it is provoked. */
void http2__count_unsent(struct http2_conn *c);

/* Written bytes have moved on: forgets what was counted. */
void http2__unsent_written(struct http2_conn *c);

#endif
