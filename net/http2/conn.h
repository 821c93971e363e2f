/* net/http2/conn.h: an HTTP/2 connection (RFC 9113), either side of it, without
 * I/O: bytes in, calls out; bytes out, when asked for them.
 *
 *     static void on_request(struct http2_conn *c, const struct http2_head *h)
 *     {
 *         struct request *r = request_new(h->text, h->head);  // copies
 *         if (r)                                    // else: REFUSED_STREAM
 *             http2_accept(c, &r->stream);
 *     }
 *     static const struct http2_calls calls = { .request = on_request, ... };
 *
 *     struct http2_conn c;
 *     http2_init(&c, HTTP2_SERVER, &conf, &calls, &shared, now_ns);
 *     if (http2_receive(&c, buf, len, now_ns) < 0)
 *         hang_up_when_sent(&c);                    // GOAWAY is to be sent
 *     while ((n = http2_fill(&c, iov)) > 0)
 *         http2_written(&c, (size_t)writev(fd, iov, n));
 *
 * To answer, and in the same way to ask (http2_open() first):
 *
 *     http2_head_begin(s);
 *     http2_put_status(s, 200);
 *     http2_put(s, "content-type", 12, "text/plain", 10);
 *     http2_head_end(s, false);
 *     http2_send(s, "hello\n", 6, true);   // until taken(): the bytes stay
 *     ...
 *     http2_release(s, HTTP2_NO_ERROR);    // once, when both sides have ended
 *
 * Heads come as those of HTTP/1.1 do: struct http1_head over text of the same
 * form, in which :method, :path and :authority are the first line and the
 * first field, `host`, so that whoever reads heads reads one kind. All that RFC
 * 9113 calls malformed has been refused before. Several `cookie` fields are one
 * line; the text ends with the empty line; .framing is NO_BODY (END_STREAM, or
 * a length of 0), LENGTH, or CHUNKED if there is a body of unknown length. Heads
 * are written from fields, or from such text (put.h).
 *
 * A stream is a member of the owner's struct. The connection knows it from
 * http2_accept() or http2_open() until http2_release(), which must come once for
 * each; until then it counts as one of conf.streams. closed() says that it
 * has died: nothing more arrives, and what is sent is thrown away.
 *
 *   idle -> open -> half closed -> closed     (RFC 9113, 5.1)
 *             \-------- reset -----^
 *
 * Windows: what has arrived counts against the stream's window until the owner
 * says http2_consumed(). The connection's window opens again when data arrives,
 * not when it is consumed, as long as the memory that the connection may hold
 * allows it: so that a stream that nobody reads stops no other.
 *
 * The owner is called from http2_receive(), _expire(), _fill(), _written(),
 * _lost() and _fail(), and from nowhere else, whatever happens. There it may do
 * anything but free the connection: whoever wants to, notes it, and does it when
 * the function has returned.
 *
 * Memory: an idle connection holds its HPACK decoder (1.3 kB and what the peer
 * put into the table) and no buffer. Threads: owned. */
#ifndef BIDE_NET_HTTP2_CONN_H
#define BIDE_NET_HTTP2_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "net/buf.h"
#include "net/http1/head.h"
#include "net/http2/conf.h"
#include "net/http2/error.h"

enum http2_role {
    HTTP2_SERVER,
    HTTP2_CLIENT,
};

enum {
    HTTP2_IOV = 16,      /* that http2_fill() may want */
    HTTP2_PREFACE = 24,  /* bytes that a client begins with */
    HTTP2_PROTOCOL = 15, /* bytes of a :protocol that are kept */
    HTTP2_BUCKETS = 32,  /* of streams, by number */
    HTTP2_REFS = 4,      /* pieces of bodies that are being sent */
    HTTP2_DEBUG = 16,    /* bytes of a GOAWAY's text that are told */
    HTTP2_RECENT = 512,  /* streams whose end is remembered */
};

struct http2_conn;
struct http2_stream;
struct http2_partial;

/* ===== heads ===== */

/* A complete head, or trailers. Valid during the call. Threads: owned. */
struct http2_head {
    const struct http1_head *head; /* .fields too. Trailers: fields alone */
    const char *text;              /* what its offsets are from */
    const char *protocol; /* :protocol of an extended CONNECT (RFC 8441); the
                             head's method is then CONNECT, and its target a
                             path; else NULL */
    bool https;           /* :scheme */
    bool end;             /* nothing follows */
    int error;            /* HTTP1_EFIELDS, HTTP1_EHEAD: over limits.headers or
                  header_bytes. `head` has the fields up to there, and of the
                  first line what was there by then: answer 431. Else 0 */
};

/* ===== streams ===== */

enum http2_flags {
    HTTP2_IN_ENDED = 1,   /* the peer has sent all */
    HTTP2_OUT_ENDED = 2,  /* so have we: END_STREAM is queued */
    HTTP2_DEAD = 4,       /* reset, or the connection is gone */
    HTTP2_HEAD_IN = 8,    /* a final head has come */
    HTTP2_HEAD_OUT = 16,  /* ... has been queued */
    HTTP2_LENGTH_IN = 32, /* in_left counts down */
    HTTP2_END_PIECE = 64, /* the piece is the last of the body */
    HTTP2_NO_BODY = 128,  /* client: HEAD was asked, the length means nothing */
};

/* A part of the owner's struct. All members are the connection's; the owner may
 * read `id`, `conn`, `flags` and `piece_len`. Threads: owned. */
struct http2_stream {
    struct http2_conn *conn; /* NULL: not known to one */
    struct http2_stream *next_by_id;
    struct http2_stream *next, *prev; /* among those with something to send */
    const char *piece; /* of the body, what is to be framed ... */
    size_t unframed;   /* ... so many bytes */
    size_t piece_len;  /* of the piece that are not taken yet */
    uint64_t in_left;  /* bytes that content-length promises */
    uint64_t head_at;  /* where in all that was sent its head begins */
    uint32_t id;
    int32_t send_window; /* may be negative (RFC 9113, 6.9.2) */
    int32_t recv_window; /* what the peer may still send */
    uint32_t consumed;   /* and not yet given back */
    uint32_t unconsumed; /* arrived, held by the owner */
    uint16_t flags;      /* enum http2_flags */
    uint16_t refs;       /* pieces of it in c->refs */
};

/* Why a stream has died. */
enum http2_end {
    HTTP2_BY_PEER, /* RST_STREAM; `code` is the peer's */
    HTTP2_BY_US,   /* it broke a rule: RST_STREAM `code` is queued, conn->why */
    HTTP2_LOST,    /* with its connection */
};

/* ===== calls ===== */

/* What the owner is told. No member may be NULL, but for those that the other
 * role needs. Threads: immutable. */
struct http2_calls {
    /* Server: a request. http2_accept() makes it a stream, which may be
     * answered at once; without that it is refused (REFUSED_STREAM: the client
     * knows that it was not processed). */
    void (*request)(struct http2_conn *c, const struct http2_head *h);

    /* Client: the answer's head; first those of interim answers (1xx). */
    void (*response)(struct http2_stream *s, const struct http2_head *h);

    /* The body, as it arrives; the bytes are gone after the call. `end`: that
     * was all, and n may be 0. Every byte must be given back by
     * http2_consumed(), sooner or later, unless the stream is released. */
    void (*data)(struct http2_stream *s, const char *bytes, size_t n, bool end);

    /* Trailers: that was all. With h->error they were too long, and
     * the body counts as complete if the owner likes. */
    void (*trailers)(struct http2_stream *s, const struct http2_head *h);

    /* n bytes of the piece of http2_send() are no longer needed. With
     * s->piece_len 0 the next may be given, or trailers. */
    void (*taken)(struct http2_stream *s, size_t n);

    /* It has died, and is to be released. `code` is a http2_code, or what the
     * peer thinks is one; `unprocessed`: the peer has certainly not acted on it
     * (never written, REFUSED_STREAM, above GOAWAY's last stream). */
    void (*closed)(struct http2_stream *s, enum http2_end how, uint32_t code,
                   bool unprocessed);

    /* The peer will accept no more streams: c->goaway_code, goaway_last, and
     * the first HTTP2_DEBUG bytes of what it said. A client's streams above the
     * last have been closed. May come twice. Or NULL. */
    void (*goaway)(struct http2_conn *c, const char *debug, size_t n);

    /* Our PING was answered. Or NULL. */
    void (*pong)(struct http2_conn *c, int64_t took_ns);

    /* The peer's settings have come, or changed. Or NULL. */
    void (*settings)(struct http2_conn *c);
};

/* ===== what the connections of a thread share ===== */

/* Threads: owned. */
struct http2_shared {
    struct net_bufs *bufs; /* of what is to be sent; at least 512 bytes each */
    struct net_bufs heads; /* for heads that are being decoded */
    uint64_t counts[HTTP2_WHYS_N]; /* how often each was found, by kind */
};

/* `bufs` outlives it. max_headers and max_bytes: the most of any conf that will
 * be used with it; at most HTTP1_HEAD_MOST bytes. */
void http2_shared_init(struct http2_shared *shared, struct net_bufs *bufs,
                       unsigned max_headers, unsigned max_bytes);
void http2_shared_done(struct http2_shared *shared);

/* ===== connections ===== */

/* What the peer allows. */
struct http2_peer {
    uint32_t streams;      /* MAX_CONCURRENT_STREAMS; UINT32_MAX: any. A client
                            takes 1 for granted until it knows */
    uint32_t window;       /* INITIAL_WINDOW_SIZE */
    uint32_t frame;        /* MAX_FRAME_SIZE */
    uint32_t head_bytes;   /* MAX_HEADER_LIST_SIZE; UINT32_MAX: any */
    bool connect_protocol; /* RFC 8441 */
    bool streams_told;     /* it has said how many */
    bool known;            /* its SETTINGS have come */
};

/* A piece of a body that is being sent without being copied. */
struct http2_ref {
    struct http2_stream *stream; /* NULL: it has gone, `bytes` is a copy */
    char *copy;                  /* ... to be freed */
    const char *bytes;
    uint64_t at;    /* its place in all that is sent */
    uint32_t len;   /* that are left */
    uint32_t taken; /* that are to be reported */
};

/* The frame that is being read. */
struct http2_frame {
    uint32_t len, id;
    uint8_t type, flags;
};

struct http2_conn {
    /* For the owner to read. */
    void *user; /* the owner's, to set */
    struct http2_peer peer;
    uint32_t n_streams;   /* not released */
    uint32_t goaway_last; /* of the peer's GOAWAY */
    uint32_t goaway_code;
    bool goaway_in; /* the peer has sent GOAWAY */
    bool closing;   /* http2_shutdown(), or failed: opens no more streams */
    bool failed;    /* GOAWAY with an error is queued: send it, and close */
    uint8_t role;   /* enum http2_role */
    uint8_t why;    /* enum http2_why: of the last thing that was wrong */
    uint32_t code;  /* enum http2_code, likewise */

    /* Its own. Streams: */
    const struct http2_conf *conf;
    const struct http2_calls *calls;
    struct http2_shared *shared;
    struct http2_stream *by_id[HTTP2_BUCKETS];
    struct http2_stream *ready; /* the next to send, of a ring */
    uint32_t last_id;           /* the highest that the peer has opened */
    uint32_t next_id;           /* that we will open */
    uint32_t asking; /* during request(), until http2_accept(): its number */
    const struct http2_partial *asked;     /* ... and its head */
    uint64_t reset_ids[HTTP2_RECENT / 64]; /* of recent streams, those that were
                                              reset */

    /* Reading: */
    struct nghttp2_hd_inflater *inflater;
    struct http2_partial *partial; /* the head that is being read; or NULL */
    struct http2_frame frame;
    uint32_t left;      /* bytes of its payload that are to come */
    uint8_t phase;      /* enum http2__phase (frame.h) */
    uint8_t held;       /* bytes in `hold` */
    uint8_t want;       /* ... and how many are needed */
    uint8_t padding;    /* bytes at the frame's end */
    uint8_t hold[24];   /* what has arrived of something small */
    int64_t new_window; /* of the SETTINGS that are being read; -1: not in it */

    /* Windows and limits: */
    int32_t send_window;
    int32_t recv_window;
    uint32_t unreturned; /* bytes to give back to it */
    uint32_t unconsumed; /* bytes that the owner holds */
    uint32_t credit;     /* WINDOW_UPDATEs that are no surprise */
    int64_t now_ns;      /* at the last call that said so */
    int64_t resets_ns, errors_ns,
        control_ns;    /* token buckets: when full again */
    int64_t due_ns;    /* of SETTINGS; BIDE_FOREVER: all have come */
    int64_t pinged_ns; /* when ours was sent; 0: none is under way */
    uint8_t ping;      /* its number */
    uint8_t acks;      /* of our SETTINGS that are to come */
    uint8_t drain;     /* enum http2__drain (drain.c) */

    /* Writing: */
    struct net_buf *out, *out_last;
    uint64_t queued, written; /* bytes, since the beginning */
    uint64_t unsent_mark;     /* where the second of these counts begins */
    uint32_t unsent_old, unsent_new; /* control frames that wait */
    uint8_t n_refs;
    bool head_open;     /* between http2_head_begin() and _end() */
    bool lost;          /* http2_lost(): nothing more is written */
    bool broken;        /* no memory: nothing more can be written, and the
                           next receive, fill or expire fails it */
    bool table_told;    /* that our encoder uses no dynamic table */
    uint32_t head_from; /* where in out_last its last frame begins */
    char *head_flags;   /* of its first frame */
    struct http2_ref refs[HTTP2_REFS];
};

/* Begins; what it has to say first is queued. conf, calls and shared outlive it.
 * False: no memory. */
bool http2_init(struct http2_conn *c, enum http2_role role,
                const struct http2_conf *conf, const struct http2_calls *calls,
                struct http2_shared *shared, int64_t now_ns);

/* Frees what it holds. All its streams have been released. */
void http2_done(struct http2_conn *c);

/* Whether a connection begins as HTTP/2 clients do: positive, no (negative), or
 * 0 if more bytes are needed. Whoever asked passes all of them on. */
int http2_is_preface(const char *buf, size_t len);

/* The peer has gone, or will be hung up on: closes all streams, and writes nothing
 * any more. What was not written by now, the peer has not seen: a peer that has only
 * stopped to send would still read it. */
void http2_lost(struct http2_conn *c);

/* Fails it: GOAWAY with that code is queued, all streams are closed. */
void http2_fail(struct http2_conn *c, enum http2_code code, enum http2_why why);

#endif
