/* net/http2/put.h: writing heads: of requests, answers and trailers.
 *
 *     http2_head_begin(s);
 *     http2_put_status(s, 200);
 *     http2_put_lines(s, text, len);       // as HTTP/1.1 has them
 *     http2_put(s, "x-bide-attempts", 15, "2", 1);
 *     if (http2_head_end(s, false) < 0)
 *         hang_up(s->conn);                // no memory
 *
 * The encoder keeps no dynamic table: a head that is written costs a copy, and
 * an idle connection nothing. */
#ifndef BIDE_NET_HTTP2_PUT_H
#define BIDE_NET_HTTP2_PUT_H

#include "net/http2/conn.h"

/* Begins a head: of a request, an answer (interim ones too) or trailers; then
 * the pseudo-headers, then the fields, then _end(). The body's pieces before it
 * have all been taken. Nothing else is called for the connection meanwhile. */
void http2_head_begin(struct http2_stream *s);
void http2_put_status(struct http2_stream *s, unsigned status);

/* A request's pseudo-headers; texts may be NULL where there is none, as CONNECT
 * has neither scheme nor path, but with a protocol (RFC 8441) both. */
struct http2_request {
    const char *method, *scheme, *authority, *path, *protocol;
    size_t method_len, authority_len, path_len;
};
void http2_put_request(struct http2_stream *s, const struct http2_request *r);

/* A field whose name is in small letters. */
void http2_put(struct http2_stream *s, const char *name, size_t name_len,
               const char *value, size_t value_len);

/* Fields from lines of HTTP/1.1, "Name: value CR LF": names become small. `host`
 * is left out, being :authority, and so is what belongs to HTTP/1.1's
 * connections (`connection`, `upgrade`, `transfer-encoding`, ..., `te` but
 * trailers). */
void http2_put_lines(struct http2_stream *s, const char *text, size_t len);

/* Likewise a field of a head that has been parsed, in its text. */
void http2_put_field(struct http2_stream *s, const struct http1_field *f,
                     const char *text);

/* The head is complete; with `end` so is the message. 0, or negative if the
 * connection has failed, or will, for lack of memory. */
int http2_head_end(struct http2_stream *s, bool end);

#endif
