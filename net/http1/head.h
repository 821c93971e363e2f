/* net/http1/head.h: HTTP/1.1 messages, read strictly (RFC 9112) and without
 * copying.
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
 * more steps than one that arrives at once, and gives the same result.
 *
 * What two readers could understand differently is refused, not repaired: that
 * is how requests are smuggled. Every refusal has a number that does not
 * change, a name, a text and the status to respond with. */
#ifndef BIDE_NET_HTTP1_HEAD_H
#define BIDE_NET_HTTP1_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ===== errors ===== */

/* X(error, value, status, name, text). Status is what a server responds to such
 * a request; for a response it means nothing (a proxy responds with 502). */
/* clang-format off */
#define HTTP1_ERRORS(X)                                                        \
    X(HTTP1_EMETHOD, -1, 400, "method",                                        \
      "the method is not a token")                                             \
    X(HTTP1_ETARGET, -2, 400, "target",                                        \
      "the request target is not valid")                                       \
    X(HTTP1_EVERSION, -3, 505, "version",                                      \
      "the version is neither HTTP/1.0 nor HTTP/1.1")                          \
    X(HTTP1_ESTART, -4, 400, "first_line",                                     \
      "the first line does not follow its grammar")                            \
    X(HTTP1_ESTATUS, -5, 502, "status",                                        \
      "the status code is not three digits from 100")                          \
    X(HTTP1_EBARELF, -6, 400, "bare_lf",                                       \
      "a line ends in LF without CR")                                          \
    X(HTTP1_EBARECR, -7, 400, "bare_cr",                                       \
      "a CR without LF")                                                       \
    X(HTTP1_EFOLD, -8, 400, "obs_fold",                                        \
      "a header line begins with a blank (obs-fold)")                          \
    X(HTTP1_ENAME, -9, 400, "name",                                            \
      "a header line without a name that is a token, and a colon")                                 \
    X(HTTP1_ECOLON, -10, 400, "space_before_colon",                            \
      "a blank before the colon of a header line")                             \
    X(HTTP1_EVALUE, -11, 400, "value",                                         \
      "a control character in a header value")                                 \
    X(HTTP1_EFIELDS, -12, 431, "too_many_fields",                              \
      "too many header lines")                                                 \
    X(HTTP1_EHEAD, -13, 431, "head_too_long",                                  \
      "the head is too long")                                                  \
    X(HTTP1_EHOST, -14, 400, "host",                                           \
      "Host is missing, repeated or not valid")                                \
    X(HTTP1_ELENGTH, -15, 400, "content_length",                               \
      "Content-Length is not a plain number")                                  \
    X(HTTP1_ELENGTHS, -16, 400, "content_length_repeated",                     \
      "Content-Length is given more than once")                                \
    X(HTTP1_ECODING, -17, 400, "transfer_encoding",                            \
      "Transfer-Encoding is not exactly chunked")                              \
    X(HTTP1_ECODINGS, -18, 400, "transfer_encoding_repeated",                  \
      "Transfer-Encoding is given more than once")                             \
    X(HTTP1_EBOTH, -19, 400, "length_and_encoding",                            \
      "Content-Length and Transfer-Encoding together")                         \
    X(HTTP1_ECODING10, -20, 400, "transfer_encoding_in_1_0",                   \
      "Transfer-Encoding in HTTP/1.0")                                         \
    X(HTTP1_ECONNECTION, -21, 400, "connection",                               \
      "Connection names what it must not")                                     \
    X(HTTP1_EEXPECT, -22, 417, "expect",                                       \
      "Expect asks for something unknown")                                     \
    X(HTTP1_EUPGRADE, -23, 502, "upgrade",                                     \
      "101 without an upgrade that was asked for")                             \
    X(HTTP1_ETUNNEL, -24, 400, "connect_body",                                 \
      "CONNECT with a body")                                                   \
    X(HTTP1_ECHUNK, -25, 400, "chunk_size",                                    \
      "a chunk size is not a plain hex number")                                \
    X(HTTP1_ECHUNKBIG, -26, 400, "chunk_too_large",                            \
      "a chunk size is too large")                                             \
    X(HTTP1_ECHUNKEXT, -27, 400, "chunk_extension",                            \
      "a chunk extension is not valid or too long")                            \
    X(HTTP1_ECHUNKEND, -28, 400, "chunk_end",                                  \
      "no CRLF where a chunk ends")                                            \
    X(HTTP1_ETRAILER, -29, 400, "trailer",                                     \
      "a field that must not be in a trailer")                                 \
    X(HTTP1_ETRUNCATED, -30, 400, "truncated",                                 \
      "the connection ended inside a message")
/* clang-format on */

enum {
#define X(error, value, status, name, text) error = value,
    HTTP1_ERRORS(X)
#undef X
};

/* "bare_lf", for logs and metrics; a sentence for people; the status to respond
 * with. Never NULL; for a number that is no error "none", "no error" and
 * 200. */
const char *http1_error_name(int rc);
const char *http1_error_text(int rc);
int http1_error_status(int rc);

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

/* The names that the parser knows are in names.h: HTTP1_ID_HOST, ... */
#include "net/http1/names.h"

enum http1_id {
    HTTP1_ID_OTHER = 0,      /* any name that is not in the list ... */
    HTTP1_ID_UNDERSCORE = 1, /* ... or has an underscore. CGI maps
                                X_Forwarded_For and X-Forwarded-For to the same
                                variable: one can impersonate the other */
    HTTP1_ID_X_FORWARDED = 2, /* ... or begins with "x-forwarded-": no list has
                                 all that servers trust */
#define X(id, name, slot, flags) HTTP1_ID_##id,
    HTTP1_NAMES(X)
#undef X
        HTTP1_IDS
};

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

/* "content-length" for HTTP1_ID_CONTENT_LENGTH; "" for those not in the
 * list. */
const char *http1_name(enum http1_id id);

/* The id of a name, in any case of letters. */
enum http1_id http1_name_id(const char *name, size_t len);

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

/* ===== paths ===== */

/* Normalizes a path that begins with "/" (RFC 3986, 6.2.2), in place: returns
 * its new length, never more than before. HTTP1_ETARGET: it has no normal form,
 * or one that some servers would still read in another way (path.c); the
 * bytes are then undefined. Idempotent. */
int http1_path_normalize(char *path, size_t len);

/* The same for the path of a request whose head has been read; the query moves
 * along. `buf` is what it was read from. False: it has no normal form. */
bool http1_normalize(struct http1_head *head, char *buf);

/* ===== bodies ===== */

/* Reads a body as it arrives, whatever its framing.
 *
 *     for (;;) {
 *         int rc = http1_body_next(&body, buf + at, len - at, &piece);
 *         if (rc < 0)
 *             return refuse(http1_error_status(rc), http1_error_text(rc));
 *         use(buf + at + piece.data, piece.data_len);
 *         at += piece.consumed;
 *         if (rc != HTTP1_DATA)
 *             break;                  // HTTP1_MORE: read more; HTTP1_END: done
 *     }
 *
 * Threads: owned. */
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

/* Sets the longest trailer section to accept, by default HTTP1_HEAD_BYTES: it
 * is read as a whole, so callers with smaller buffers must set it. Call it
 * before the trailer begins. */
void http1_body_max_trailer(struct http1_body *body, unsigned max_bytes);

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

/* The connection has ended: HTTP1_END if that ends the body or the body was
 * already complete, HTTP1_ETRUNCATED if not. */
int http1_body_eof(const struct http1_body *body);

#endif
