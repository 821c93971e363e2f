/* net/http1/body.h: reads a body as it arrives, whatever its framing.
 *
 *     for (;;) {
 *         int rc = http1_body_next(&body, buf + at, len - at, &piece);
 *         if (rc < 0)
 *             return refuse(http1_error_status(rc), http1_error_text(rc));
 *         use(buf + at + piece.data, piece.data_len);
 *         at += piece.consumed;
 *         if (rc != HTTP1_DATA)
 *             break;                  // HTTP1_MORE: read more; HTTP1_END: done
 *     } */
#ifndef BIDE_NET_HTTP1_BODY_H
#define BIDE_NET_HTTP1_BODY_H

#include "net/http1/head.h"

/* Threads: owned. */
struct http1_body {
    uint64_t left; /* of the body or of the chunk */
    struct http1_head trailer;
    uint16_t ext_bytes;
    uint8_t framing, phase, digits;
    int8_t error;
    bool ext_named;
};

struct http1_piece {
    size_t data, data_len; /* bytes of the body, as offset into the input */
    size_t consumed;       /* of the input: data and its framing */
};

enum {
    HTTP1_MORE = 0, /* all usable input is used; pass the rest, and more */
    HTTP1_DATA = 1, /* data_len > 0; call again with the rest */
    HTTP1_END = 2,  /* the body is complete; the rest is the next message */
};

/* Begins a body as the head specifies. */
void http1_body_init(struct http1_body *body, enum http1_framing framing,
                     uint64_t content_length);

/* Sets the largest trailer section to accept, by default HTTP1_TRAILER_FIELDS
 * and HTTP1_HEAD_BYTES: it is read as a whole, so callers with smaller buffers
 * must set it. Call it before the trailer begins. */
void http1_body_max_trailer(struct http1_body *body, unsigned max_fields,
                            unsigned max_bytes);

/* Keeps the trailer lines: offsets in `fields` are from the beginning of the
 * trailer section, which is where the last piece's `data` points. By default
 * they are checked and dropped. Call it before the trailer begins. */
void http1_body_keep_trailer(struct http1_body *body,
                             struct http1_field *fields, unsigned max_fields);

/* Takes one piece off the input. Bytes that are not consumed must be passed
 * again. All are consumed, except those of an incomplete trailer section: it is
 * taken as a whole (at most HTTP1_HEAD_BYTES), including the empty line.
 *
 * The consumed bytes of a chunked body may be forwarded unchanged to an
 * HTTP/1.1 peer. Returns HTTP1_MORE, HTTP1_DATA, HTTP1_END or an error, and
 * that error again at every further call. */
int http1_body_next(struct http1_body *body, const char *buf, size_t len,
                    struct http1_piece *piece);

/* Whether what was consumed ends with a whole chunk: another may follow, or the end. */
bool http1_body_between_chunks(const struct http1_body *body);

/* The connection has ended: HTTP1_END if that ends the body or the body was
 * already complete, HTTP1_ETRUNCATED if not. */
int http1_body_eof(const struct http1_body *body);

/* For chunk.c: a run of data at `at`, as long as the input and what is left
 * allow. */
int http1__body_run(struct http1_body *b, size_t at, size_t len,
                    struct http1_piece *piece);

#endif
