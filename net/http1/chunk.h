/* net/http1/chunk.h: where a chunked body has been read to, and reading on. */
#ifndef BIDE_NET_HTTP1_CHUNK_H
#define BIDE_NET_HTTP1_CHUNK_H

#include "net/http1/body.h"

/* The position in a chunked body. */
enum http1__chunk_phase {
    HTTP1__SIZE, /* digits of a chunk's size */
    HTTP1__EXT_NAME,
    HTTP1__EXT_VALUE, /* its first byte: a token or a quote */
    HTTP1__EXT_TOKEN,
    HTTP1__EXT_QUOTED,
    HTTP1__EXT_BEHIND, /* after the closing quote */
    HTTP1__SIZE_LF,
    HTTP1__CHUNK_DATA,
    HTTP1__CHUNK_CR, /* after the data */
    HTTP1__CHUNK_LF,
    HTTP1__TRAILERS,
    HTTP1__CHUNKS_DONE,
    HTTP1__CHUNKS_FAILED,
};

/* http1_body_next() of a chunked body. */
int http1__chunked_next(struct http1_body *b, const char *buf, size_t len,
                        struct http1_piece *piece);

/* One byte of a chunk extension. 0 or an error. */
int http1__chunk_ext(struct http1_body *b, char c);

#endif
