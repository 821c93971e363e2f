/* net/http2/frame.h: what frames are made of (RFC 9113, 4.1 and 6).
 *
 *   length 24 | type 8 | flags 8 | R 1 | stream 31 | payload */
#ifndef BIDE_NET_HTTP2_FRAME_H
#define BIDE_NET_HTTP2_FRAME_H

#include <stdint.h>

#include "net/http2/conn.h"

enum {
    HTTP2__DATA,
    HTTP2__HEADERS,
    HTTP2__PRIORITY,
    HTTP2__RST_STREAM,
    HTTP2__SETTINGS,
    HTTP2__PUSH_PROMISE,
    HTTP2__PING,
    HTTP2__GOAWAY,
    HTTP2__WINDOW_UPDATE,
    HTTP2__CONTINUATION,
};

enum {
    HTTP2__END_STREAM = 0x1,
    HTTP2__ACK = 0x1,
    HTTP2__END_HEADERS = 0x4,
    HTTP2__PADDED = 0x8,
    HTTP2__PRIORITIZED = 0x20,
};

enum {
    HTTP2__SET_TABLE = 1,
    HTTP2__SET_PUSH = 2,
    HTTP2__SET_STREAMS = 3,
    HTTP2__SET_WINDOW = 4,
    HTTP2__SET_FRAME = 5,
    HTTP2__SET_HEAD_BYTES = 6,
    HTTP2__SET_CONNECT = 8, /* RFC 8441 */
};

enum {
    HTTP2__FRAME_HEAD = 9,
    HTTP2__FRAME_MAX = 16384, /* payload that we accept, and write */
    HTTP2__WINDOW_FIRST = 65535,
    /* This part of its memory is for what waits to be written. Half of that,
     * and a peer that does not read has its requests refused. */
    HTTP2__OUT_SHARE = 16,
};

/* What the next byte is part of. */
enum http2__phase {
    HTTP2__AT_PREFACE,
    HTTP2__AT_FRAME,   /* a frame's head */
    HTTP2__AT_SMALL,   /* something small that is gathered in c->hold */
    HTTP2__AT_PREFIX,  /* what precedes DATA or a head: padding, priority */
    HTTP2__AT_SETTING, /* one of a SETTINGS frame */
    HTTP2__AT_DATA,
    HTTP2__AT_BLOCK,   /* a head, compressed */
    HTTP2__AT_PADDING, /* the rest of a frame that is of no interest */
};

#define HTTP2__WINDOW_MOST INT32_MAX
#define HTTP2__ID_MOST     INT32_MAX

/* WINDOW_UPDATEs will come for what was opened or sent: two for each, but no
 * more than may come for nothing. */
static inline void http2__expect_updates(struct http2_conn *c)
{
    if (c->credit < c->conf->control)
        c->credit += 2;
}

/* Fails the connection if there was no memory. 0, or negative if it has
 * failed. */
int http2__settle(struct http2_conn *c);

static inline uint32_t http2__get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static inline char *http2__put32(char *p, uint32_t x)
{
    p[0] = (char)(x >> 24);
    p[1] = (char)(x >> 16);
    p[2] = (char)(x >> 8);
    p[3] = (char)x;
    return p + 4;
}

static inline char *http2__put_frame(char *p, uint32_t len, unsigned type,
                                     unsigned flags, uint32_t id)
{
    p[0] = (char)(len >> 16);
    p[1] = (char)(len >> 8);
    p[2] = (char)len;
    p[3] = (char)type;
    p[4] = (char)flags;
    return http2__put32(p + 5, id);
}

static inline struct http2_frame http2__get_frame(const uint8_t *p)
{
    return (struct http2_frame){
        .len = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2],
        .type = p[3],
        .flags = p[4],
        .id = http2__get32(p + 5) & HTTP2__ID_MOST,
    };
}

#endif
