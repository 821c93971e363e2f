/* net/http1/body.c: bodies of any framing, a piece at a time. */
#include "net/http1/body.h"
#include "net/http1/chunk.h"
#include "net/http1/read.h"

#include <assert.h>

void http1_body_init(struct http1_body *body, enum http1_framing framing,
                     uint64_t content_length)
{
    *body = (struct http1_body){
        .framing = (uint8_t)framing,
        .left = framing == HTTP1_LENGTH ? content_length : 0,
    };
    if (framing == HTTP1_CHUNKED)
        http1__trailer_init(&body->trailer);
}

void http1_body_max_trailer(struct http1_body *body, unsigned max_fields,
                            unsigned max_bytes)
{
    assert(max_bytes <= HTTP1_HEAD_MOST);
    body->trailer.max_fields = (uint16_t)max_fields;
    body->trailer.max_bytes = (uint16_t)max_bytes;
}

void http1_body_keep_trailer(struct http1_body *body,
                             struct http1_field *fields, unsigned max_fields)
{
    body->trailer.fields = fields;
    body->trailer.max_fields = (uint16_t)max_fields;
}

int http1__body_run(struct http1_body *b, size_t at, size_t len,
                    struct http1_piece *piece)
{
    size_t there = len - at;
    size_t run = b->left < there ? (size_t)b->left : there;

    b->left -= run;
    *piece = (struct http1_piece){ at, run, at + run };
    return run > 0 ? HTTP1_DATA : HTTP1_MORE;
}

static int next_of_length(struct http1_body *b, size_t len,
                          struct http1_piece *piece)
{
    if (b->left == 0) {
        *piece = (struct http1_piece){ 0 };
        return HTTP1_END;
    }
    return http1__body_run(b, 0, len, piece);
}

int http1_body_next(struct http1_body *body, const char *buf, size_t len,
                    struct http1_piece *piece)
{
    switch (body->framing) {
    case HTTP1_CHUNKED:
        return http1__chunked_next(body, buf, len, piece);
    case HTTP1_UNTIL_CLOSE:
    case HTTP1_TUNNEL:
        *piece = (struct http1_piece){ 0, len, len };
        return len > 0 ? HTTP1_DATA : HTTP1_MORE;
    default:
        return next_of_length(body, len, piece);
    }
}

bool http1_body_between_chunks(const struct http1_body *body)
{
    return body->framing == HTTP1_CHUNKED && body->phase == HTTP1__SIZE &&
           body->digits == 0;
}

int http1_body_eof(const struct http1_body *body)
{
    bool done = body->framing == HTTP1_CHUNKED
                    ? body->phase == HTTP1__CHUNKS_DONE
                    : body->left == 0;

    return done ? HTTP1_END : HTTP1_ETRUNCATED;
}
