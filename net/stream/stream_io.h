/* net/stream/stream_io.h: what arrives on a stream, and what is sent. */
#ifndef BIDE_NET_STREAM_STREAM_IO_H
#define BIDE_NET_STREAM_STREAM_IO_H

#include "net/stream/stream.h"

/* ===== stream_receive.c: what arrives ===== */

/* Appends to what is to be read. False: no memory. */
bool stream_take_head(struct stream *s, const struct http2_head *h);
bool stream_take_data(struct stream *s, const void *data, size_t len, bool end);
bool stream_take_trailers(struct stream *s, const struct http2_head *h);

ssize_t stream_read(struct net_conn *c, void *buf, size_t n);

/* ===== stream_send.c: what is sent ===== */

ssize_t stream_writev(struct net_conn *c, const struct iovec *iov, int n);

/* n bytes of what is under way have left. */
void stream_taken(struct stream *s, size_t n);

/* Nothing more will be written to a tunnel. */
void stream_end_tunnel(struct stream *s);

#endif
