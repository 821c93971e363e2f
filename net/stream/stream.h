/* net/stream/stream.h: one request and its response, as a connection of its own.
 *
 * HTTP/2 carries many streams on one connection. Here each of them looks like a
 * connection (net/conn.h) that carries one HTTP/1.1 message each way:
 *
 *     ssize_t n = net_read(&client->conn, buf, size);    // "GET / HTTP/1.1..."
 *     net_writev(&client->conn, iov, 1);                 // "HTTP/1.1 200 ..."
 *     net_conn_close(&client->conn);                     // resets it if need be
 *
 * So whatever serves a request over a connection serves it over a stream: there
 * is one form of heads (net/http1/head.h over lines of text), one form of bodies,
 * and no second implementation of anything above.
 *
 *   head       arrives whole, decoded and validated, as text. A head that is
 *              sent must be written in one piece; it is parsed, and sent as
 *              fields (stream_send.c)
 *   body       with a length, as it is; without, in chunks. Neither side sees
 *              the other's framing
 *   trailers   the lines after the last chunk, both ways
 *   1xx        heads before the head
 *   101        in both directions bytes from there on. An Upgrade is an extended
 *              CONNECT there (switch.h); a client's stream fails if the peer has
 *              not said that it knows it
 *   pressure   net_read() returns the window that it empties; net_writev() takes
 *              what the windows allow, then NET_AGAIN, and conn->io.ready is
 *              called when there is more room
 *   peer gone  conn->hup and conn->broken, io.ready with EPOLLHUP, and NET_ERROR
 *              where what is missing would begin. The end of a message that is
 *              complete is no end of the connection
 *
 * Threads: owned. */
#ifndef BIDE_NET_STREAM_STREAM_H
#define BIDE_NET_STREAM_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "net/buf.h"
#include "net/conn.h"
#include "net/http1/body.h"
#include "net/http2/conn.h"
#include "net/stream/switch.h"

struct mux;

enum {
    STREAM_QUEUE = 4,   /* buffers that a stream may fill before it blocks */
    STREAM_FIELDS = 256 /* of a head that is sent */
};

/* What is being sent next. */
enum stream_out {
    STREAM_HEAD,
    STREAM_BODY,
    STREAM_TUNNEL, /* bytes, without any form */
    STREAM_SENT    /* all of it has been written; perhaps not yet sent */
};

/* How the body that arrives is written down. */
enum stream_in {
    STREAM_AWAITED, /* there is no head yet */
    STREAM_PLAIN,   /* with a length, or raw */
    STREAM_CHUNKS,
    STREAM_RECEIVED /* the end has arrived */
};

struct stream {
    struct http2_stream below; /* first */
    struct net_conn *conn; /* of its owner, whose session it is; NULL: gone */
    struct mux *mux;
    struct stream *next;            /* on the free list */
    struct bide__list list;         /* of mux: woken, or leaving */
    struct net_buf *in, *in_last;   /* what has arrived, as text */
    struct net_buf *out, *out_last; /* to be sent; the first is being sent */
    struct net_buf *trailer;        /* lines, to be sent after that; or NULL */
    uint32_t owed;                  /* bytes of window, for what is in `in` */
    uint32_t held;                  /* bytes of text in `in` */
    uint32_t chunk;             /* data in the last chunk of `in`; 0: it cannot grow */
    uint32_t chunk_at;          /* where in in_last that chunk begins */
    int16_t error;              /* HTTP1_E...: a head of it is too large; or 0 */
    uint8_t events;             /* to be told */
    uint8_t n_out;              /* buffers in `out` */
    uint8_t sending, receiving; /* enum stream_out, stream_in */
    uint8_t asked;              /* enum http1_method of the request */
    uint8_t how;                /* enum http2_end: it is dead */
    uint32_t code;              /* ... with this code */
    bool unopened;              /* client: it has sent nothing yet */
    bool under_way;             /* the first of `out` is */
    bool ended;                 /* END_STREAM has been queued */
    bool blocked;               /* its owner waits for room */
    bool dead;                  /* it was reset, or the connection broke */
    bool not_processed;         /* ... and the peer has surely done nothing */
    bool extended;              /* CONNECT with a protocol (RFC 8441) */
    bool tunnel;                /* ... that was accepted: bytes, both ways */
    struct http1_body body;     /* that is being sent */
    struct stream_switch asks;  /* client: what `extended` asks for */
};

extern const struct net_layer stream_layer;

/* The stream of a connection that is one; NULL: it is not. */
static inline struct stream *stream_of(const struct net_conn *c)
{
    return c->session && c->layer == &stream_layer ? c->session : NULL;
}

/* How it broke: the name of the code of an RST_STREAM, by either side; GOAWAY, if
 * it was above the last stream that counts; CONNECTION, if it was lost with that.
 * NULL: it did not, or is no stream. */
const char *stream_end(const struct net_conn *c);

/* Whether the answer was written completely while the request still arrives. */
bool stream_is_early(const struct net_conn *c);

/* Makes `conn` the stream's; all else of conn must be clear, but io.ready. */
void stream_attach(struct stream *s, struct net_conn *conn);

/* Calls io.ready with these events soon: not before the bytes that have arrived
 * are dealt with. */
void stream_wake(struct stream *s, unsigned events);

/* It has died. */
void stream_died(struct stream *s, bool not_processed);

/* The owner has left it: whether all that it wrote is sent, and its end. */
bool stream_is_sent(const struct stream *s);
void stream_release(struct stream *s);

#endif
