/* net/http1/chunk.c: chunked bodies.
 *
 *     chunk = 1*HEXDIG [ chunk-ext ] CRLF data CRLF
 *     body  = *chunk 1*"0" [ chunk-ext ] CRLF trailers CRLF
 *
 * The framing is read byte by byte, as a state machine that never needs a byte
 * again; only the trailer section is read as a whole. */
#include "base/hex.h"
#include "net/http1/chunk.h"
#include "net/http1/scan.h"

/* No blanks around the size: RFC 9112 allows a recipient to accept some, and
 * recipients that do and those that do not see different bodies. */
enum { MOST_DIGITS = 16 };

static int end_of_size(struct http1_body *b, char c)
{
    if (b->digits == 0)
        return HTTP1_ECHUNK;
    if (c == '\r')
        b->phase = HTTP1__SIZE_LF;
    else if (c == ';')
        b->phase = HTTP1__EXT_NAME;
    else
        return c == '\n' ? HTTP1_EBARELF : HTTP1_ECHUNK;
    b->ext_named = false;
    return 0;
}

/* 16 digits fit into 64 bits; a size must fit into 63. */
static int size_byte(struct http1_body *b, char c)
{
    if (!http1__is(c, HTTP1_C_HEX))
        return end_of_size(b, c);
    if (b->digits == MOST_DIGITS)
        return HTTP1_ECHUNKBIG;
    b->digits++;
    b->left = b->left << 4 | (uint64_t)bide__hex_value(c);
    return b->left > INT64_MAX ? HTTP1_ECHUNKBIG : 0;
}

static int expect_byte(struct http1_body *b, char c, char want, int error,
                       enum http1__chunk_phase next)
{
    if (c != want)
        return error;
    b->phase = (uint8_t)next;
    return 0;
}

/* One byte of the framing. */
static int frame_byte(struct http1_body *b, char c)
{
    switch (b->phase) {
    case HTTP1__SIZE:
        return size_byte(b, c);
    case HTTP1__SIZE_LF:
        b->digits = 0;
        return expect_byte(b, c, '\n', HTTP1_EBARECR,
                           b->left ? HTTP1__CHUNK_DATA : HTTP1__TRAILERS);
    case HTTP1__CHUNK_CR:
        return expect_byte(b, c, '\r', HTTP1_ECHUNKEND, HTTP1__CHUNK_LF);
    case HTTP1__CHUNK_LF:
        return expect_byte(b, c, '\n', HTTP1_ECHUNKEND, HTTP1__SIZE);
    default:
        return http1__chunk_ext(b, c);
    }
}

static int fail(struct http1_body *b, int rc)
{
    b->phase = HTTP1__CHUNKS_FAILED;
    b->error = (int8_t)rc;
    return rc;
}

static int trailers(struct http1_body *b, const char *buf, size_t at,
                    size_t len, struct http1_piece *piece)
{
    int rc = http1_parse(&b->trailer, buf + at, len - at);

    if (rc < 0)
        return fail(b, rc);
    *piece = (struct http1_piece){ at, 0, at + (size_t)rc };
    if (rc == 0)
        return HTTP1_MORE;
    b->phase = HTTP1__CHUNKS_DONE;
    return HTTP1_END;
}

static int data(struct http1_body *b, size_t at, size_t len,
                struct http1_piece *piece)
{
    int rc = http1__body_run(b, at, len, piece);

    if (b->left == 0)
        b->phase = HTTP1__CHUNK_CR;
    return rc;
}

int http1__chunked_next(struct http1_body *b, const char *buf, size_t len,
                        struct http1_piece *piece)
{
    *piece = (struct http1_piece){ 0 };
    for (size_t at = 0;; at++) {
        int rc;

        if (b->phase == HTTP1__CHUNK_DATA)
            return data(b, at, len, piece);
        if (b->phase == HTTP1__TRAILERS)
            return trailers(b, buf, at, len, piece);
        if (b->phase >= HTTP1__CHUNKS_DONE)
            return b->error < 0 ? b->error : HTTP1_END;
        if (at == len) {
            piece->data = piece->consumed = at;
            return HTTP1_MORE;
        }
        rc = frame_byte(b, buf[at]);
        if (rc < 0)
            return fail(b, rc);
    }
}
