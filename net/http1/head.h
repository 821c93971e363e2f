/* net/http1/head.h: the heads of HTTP/1.1 messages, read strictly (RFC 9112)
 * and without copying.
 *
 *     struct http1_field fields[HTTP1_FIELDS];
 *     struct http1_head head;
 *     http1_request_init(&head, fields, HTTP1_FIELDS, HTTP1_HEAD_BYTES);
 *     for (;;) {
 *         int rc = http1_parse(&head, buf, len);   // buf: the message so far
 *         if (rc < 0)
 *             return refuse(http1_error_status(rc), http1_error_text(rc));
 *         if (rc > 0)
 *             break;                               // rc bytes were the head
 *         len += read_more(buf + len);             // buf may also have moved
 *     }
 *     http1_body_init(&body, head.framing, head.content_length);
 *
 * The parser allocates nothing, keeps offsets and no pointers into the input,
 * and continues where it stopped: a head that arrives byte by byte takes no
 * more steps than one that arrives at once, and gives the same result. */
#ifndef BIDE_NET_HTTP1_HEAD_H
#define BIDE_NET_HTTP1_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/http1/error.h"
#include "net/http1/names.h"

/* ===== limits ===== */

enum {
    HTTP1_FIELDS = 100,        /* header lines, by default */
    HTTP1_HEAD_BYTES = 16384,  /* head or trailer section, by default */
    HTTP1_HEAD_MOST = 65535,   /* offsets are 16 bits wide */
    HTTP1_TRAILER_FIELDS = 32, /* trailer lines */
    HTTP1_EXT_BYTES = 1024,    /* chunk extensions of one body, all together */
    HTTP1_NOMINATED = 32,      /* what Connection may name, in one message */
};

/* ===== header fields ===== */

/* One header line: "Name: value CRLF". Offsets are from the start of the
 * message. Lines are contiguous: fields a to b are the bytes from
 * fields[a].line to fields[b].line + fields[b].line_len, for one memcpy.
 *
 * Threads: owned. */
struct http1_field {
    uint16_t line;      /* where the line, and the name, begins */
    uint16_t line_len;  /* including CRLF */
    uint16_t name_len;  /* never 0 */
    uint16_t value;     /* where the value begins, after blanks */
    uint16_t value_len; /* without trailing blanks; may be 0 */
    uint8_t id;         /* enum http1_id */
    uint8_t hop;        /* hop-by-hop: by its nature (HTTP1_HOP), or because
                           Connection names it */
};

/* ===== heads ===== */

enum http1_method {
    HTTP1_METHOD_OTHER, /* a token that is none of these; see method_len */
    HTTP1_GET,
    HTTP1_HEAD,
    HTTP1_POST,
    HTTP1_PUT,
    HTTP1_DELETE,
    HTTP1_PATCH,
    HTTP1_OPTIONS,
    HTTP1_TRACE,
    HTTP1_CONNECT,
};

enum http1_form {
    HTTP1_ORIGIN,    /* /path?query */
    HTTP1_ABSOLUTE,  /* http://host/path?query */
    HTTP1_AUTHORITY, /* host:port, of CONNECT and nothing else */
    HTTP1_ASTERISK,  /* *, of OPTIONS and nothing else */
};

/* How the end of the body is determined. */
enum http1_framing {
    HTTP1_NO_BODY,     /* there is none, not even of length 0 to wait for */
    HTTP1_LENGTH,      /* content_length bytes, at least 1 */
    HTTP1_CHUNKED,     /* chunks, then trailers */
    HTTP1_UNTIL_CLOSE, /* a response without either: until the connection ends
                        */
    HTTP1_TUNNEL,      /* 101, or 2xx to CONNECT: no longer HTTP */
};

/* A request or response head. The first part is the result and counts when
 * http1_parse has returned more than 0; the second is the parser's own.
 *
 * Threads: owned. */
struct http1_head {
    struct http1_field *fields;
    uint64_t seen;           /* bit n: a field with id n is there */
    uint64_t content_length; /* valid with has_length, even if no body follows
                                (HEAD, 304) */
    uint16_t n_fields;
    uint16_t fields_at; /* where the first header line begins */
    uint16_t head_len;  /* of the whole head, including the empty line */

    /* Requests */
    uint16_t method, method_len; /* offset and length */
    uint16_t target, target_len; /* as sent, unless normalised */
    uint16_t path, path_len;     /* of the target, without "?..."; may be empty
                                    in absolute-form: means "/" */
    uint16_t query_len;          /* after the path, including "?"; or 0 */
    uint16_t host, host_len;     /* authority: of an absolute target, else of
                                    Host; empty only in HTTP/1.0 */
    uint8_t method_id;           /* enum http1_method */
    uint8_t form;                /* enum http1_form */

    /* Responses */
    uint16_t status;
    uint16_t reason, reason_len; /* may be empty */

    /* Both */
    uint8_t minor;          /* HTTP/1.minor: 0 or 1 */
    uint8_t framing;        /* enum http1_framing */
    bool has_length;        /* there was a Content-Length */
    bool keep_alive;        /* the connection outlives this message */
    bool close_named;       /* there was Connection: close */
    bool expect_continue;   /* Expect: 100-continue, HTTP/1.1 only */
    bool upgrade;           /* there were Connection: upgrade and Upgrade */
    bool has_nominated_hop; /* Connection names other fields; if they are
                               present, .hop is set */

    /* The parser's own */
    uint8_t phase, sort;
    int8_t error;
    uint8_t asked; /* method of the request to which this responds */
    bool asked_upgrade;
    bool upgrade_named, keep_alive_named; /* by Connection */
    uint8_t nominated;                    /* options that name a field */
    uint16_t max_fields, max_bytes;
    uint16_t at;    /* everything before has been read */
    uint16_t mark;  /* where the line, or the part of it, began */
    bool underscore; /* in the name of this line, so far */
    uint16_t colon;  /* of this line */
    uint16_t value; /* of this line */
};

/* Begins a head. `fields` has room for max_fields; NULL if the lines need only
 * be checked and counted. max_bytes is the longest head to accept, at most
 * HTTP1_HEAD_MOST. The array stays the caller's and must outlive the head. */
void http1_request_init(struct http1_head *head, struct http1_field *fields,
                        unsigned max_fields, unsigned max_bytes);

/* Likewise for the response to a request with that method; asked_upgrade, if
 * that request had .upgrade set and it was forwarded. A head with a status
 * below 200 other than 101 is followed by another: init again. */
void http1_response_init(struct http1_head *head, struct http1_field *fields,
                         unsigned max_fields, unsigned max_bytes,
                         enum http1_method asked, bool asked_upgrade);

/* Continues. buf holds the message from its first byte, len bytes of it so far:
 * those of the previous call, and perhaps more. It may have moved.
 *
 * Returns the length of the head when it is complete; 0 when more is needed; an
 * error (HTTP1_E..., negative) otherwise, and again at every further call.
 * head->at is then the offset of the byte at which it was detected. */
int http1_parse(struct http1_head *head, const char *buf, size_t len);

/* Whether a known field is present, and the first of that name or NULL. */
static inline bool http1_has(const struct http1_head *head, enum http1_id id)
{
    return head->seen >> id & 1;
}
const struct http1_field *http1_find(const struct http1_head *head,
                                     enum http1_id id);

#endif
