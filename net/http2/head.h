/* net/http2/head.h: a head that is being decoded: fields come in one by one, are
 * checked, and become text of HTTP/1.1's form.
 *
 *   HEADERS CONTINUATION*  ->  http2__partial_field() ...  ->  _finish()
 *
 * Every rule about malformed messages is in head.c and head_pseudo.c, for both
 * roles. A head that broke one is decoded to its end all the same, and
 * forgotten, so that the decoder stays in step with the peer's encoder. */
#ifndef BIDE_NET_HTTP2_HEAD_H
#define BIDE_NET_HTTP2_HEAD_H

#include "net/http2/conn.h"

enum http2__kind {
    HTTP2__REQUEST_HEAD,
    HTTP2__RESPONSE_HEAD,
    HTTP2__TRAILER_HEAD,
    HTTP2__NO_HEAD, /* of a stream that is gone: only decoded */
};

enum http2__pseudo {
    HTTP2__P_METHOD,
    HTTP2__P_SCHEME,
    HTTP2__P_PATH,
    HTTP2__P_AUTHORITY,
    HTTP2__P_PROTOCOL,
    HTTP2__P_STATUS,
    HTTP2__PSEUDOS
};

/* In a buffer of shared->heads. Threads: owned. */
struct http2_partial {
    struct net_buf *buf; /* that it is in */
    struct http1_head head;
    int64_t due_ns; /* the last of it */
    uint32_t id;
    uint8_t kind;          /* enum http2__kind */
    uint8_t why;           /* enum http2_why: malformed; or NONE */
    uint8_t continuations; /* frames so far */
    bool end;              /* END_STREAM */
    bool last;             /* END_HEADERS has come */
    bool lined;            /* the first line is written */
    bool https;
    int error;           /* HTTP1_EFIELDS, HTTP1_EHEAD; or 0 */
    uint16_t cookie;     /* which field it is, from 1; 0: none */
    uint16_t named_host; /* the same of a `host` field */
    uint8_t seen;        /* bits of enum http2__pseudo */
    struct {
        uint16_t at, len;
    } pseudo[HTTP2__PSEUDOS]; /* in `values` */
    char protocol[HTTP2_PROTOCOL + 1];
    uint32_t max_bytes;
    uint32_t len; /* of the text so far */
    uint32_t values_len;
    char *text;
    char *values; /* of pseudo-headers, until the first line is written */
    struct http1_field fields[];
};

/* Bytes that one needs. */
uint32_t http2__partial_size(unsigned max_headers, unsigned max_bytes);

/* Begins one; false: no memory. */
bool http2__partial_begin(struct http2_conn *c, enum http2__kind kind,
                          bool asked_head);

/* A decoded field. */
void http2__partial_field(struct http2_partial *p, const char *name,
                          size_t name_len, const char *value, size_t value_len);

/* All have come: what is now wrong is in p->why and p->error; else p->head is
 * complete. */
void http2__partial_finish(struct http2_partial *p);

/* Forgets it; none is fine. */
void http2__partial_drop(struct http2_conn *c);

#endif
