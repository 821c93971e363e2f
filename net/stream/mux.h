/* net/stream/mux.h: a connection that carries many streams (HTTP/2): reads and
 * writes it, and tells each stream what has happened to it.
 *
 *     struct mux *m = mux_new(shared, HTTP2_SERVER, &conf, &calls, &c->conn);
 *     mux_feed(m, bytes, n);           // what was read before it was known
 *     mux_ready(m);                    // whenever its connection is ready
 *     ...
 *     mux_close(m);                    // its streams are lost
 *
 * Streams are told after the bytes that were read have been dealt with, one by
 * one, and what they say is sent in one go when all events that came together
 * have been handled: thirty responses that thirty endpoints gave at once are one
 * packet.
 *
 * It is freed when it is closed and the last of its streams is, too.
 * Threads: owned. */
#ifndef BIDE_NET_STREAM_MUX_H
#define BIDE_NET_STREAM_MUX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "net/conn.h"
#include "net/http2/conn.h"
#include "net/http2/drain.h"
#include "net/http2/put.h"
#include "net/http2/receive.h"
#include "net/http2/send.h"
#include "net/loop.h"

struct mux;
struct stream;

/* What the owner of a connection does. */
struct mux_calls {
    /* Server: a request. Returns the connection that it will be, with io.ready;
     * NULL: it is refused. It is told soon that it is readable. */
    struct net_conn *(*accept)(struct mux *m);

    /* Streams have ended, or more of them are allowed, or none any more. */
    void (*eased)(struct mux *m);

    /* The peer will take no more streams, http2.goaway_code says why, and this
     * is what it said. Or NULL. */
    void (*goaway)(struct mux *m, const char *debug, size_t n);

    /* The connection is of no more use: to be closed. `broken`: not by the
     * book. */
    void (*over)(struct mux *m, bool broken);
};

/* What the connections of a thread share. */
struct mux_shared {
    struct http2_shared http2;
    struct net_loop *loop;
    struct net_bufs *bufs;
    struct stream *free; /* streams that are not used */
    unsigned n_free;
};

/* As http2_shared_init(). */
void mux_shared_init(struct mux_shared *shared, struct net_loop *loop,
                     struct net_bufs *bufs, unsigned max_headers,
                     unsigned max_bytes);
void mux_shared_done(struct mux_shared *shared);

struct mux {
    struct http2_conn http2;
    struct http2_conf conf;
    struct net_conn *conn; /* the owner's; NULL: closed */
    void *user;            /* the owner's, to set */
    const struct mux_calls *calls;
    struct mux_shared *shared;
    struct net_bufs *bufs;
    struct bide__list woken;   /* streams that have not been told yet */
    struct bide__list leaving; /* without an owner, until they have sent all */
    struct net_task task;      /* tells them, and sends what is queued */
    struct net_timer timer;    /* of what the peer owes */
    struct net_grave grave;
    uint32_t n_streams;  /* of ours, released or not */
    uint32_t n_unopened; /* ... that have not sent their head yet */
    uint32_t n_out;      /* buffers that they hold to be sent */
    bool busy;           /* what it is told now is dealt with when it is not */
    bool eased;          /* to be told */
    bool unwritable;     /* writing failed: what has arrived is still read */
    bool broken;         /* reading failed, too, or it has ended */
};

/* Takes a connection over, whose owner passes events on by mux_ready().
 * `shared` and `calls` outlive it; conf is copied. NULL: no memory. */
struct mux *mux_new(struct mux_shared *shared, enum http2_role role,
                    const struct http2_conf *conf,
                    const struct mux_calls *calls, struct net_conn *conn);

/* Its streams are lost, and told; the connection is the owner's to close. */
void mux_close(struct mux *m);

/* Bytes of it that were read already; events. The owner may have been told that
 * it is over. */
void mux_feed(struct mux *m, const void *bytes, size_t n);
void mux_ready(struct mux *m);

/* Client: makes this connection a new stream. False: there is no place, or no
 * memory. And how many there could be. */
bool mux_open(struct mux *m, struct net_conn *conn);
uint32_t mux_may_open(const struct mux *m);

/* Begins to end it: GOAWAY, then a second one after a round trip. */
void mux_drain(struct mux *m);

/* ===== for streams ===== */

/* Sends what is queued, soon. */
void mux_later(struct mux *m);

/* Opens it, to write its head at once; false: it may not. And its end. */
bool mux_begin(struct mux *m, struct stream *s);
void mux_forget(struct mux *m, struct stream *s);

#endif
