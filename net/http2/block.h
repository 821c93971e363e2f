/* net/http2/block.h: HEADERS and CONTINUATION: heads, as they arrive. */
#ifndef BIDE_NET_HTTP2_BLOCK_H
#define BIDE_NET_HTTP2_BLOCK_H

#include "net/http2/frame.h"

/* Such a frame begins; the connection may have failed after. */
void http2__block_begin(struct http2_conn *c);
void http2__continuation_begin(struct http2_conn *c);

/* Some of it; `end`: the frame's last. */
void http2__block(struct http2_conn *c, const uint8_t *bytes, size_t n,
                  bool end);

/* A head was taken: notes what it promises of the body. */
void http2__expect_body(struct http2_stream *s, const struct http2_partial *p);

#endif
