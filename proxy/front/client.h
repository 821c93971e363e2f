/* proxy/front/client.h: a client's connection: reads requests one after the other,
 * and has an exchange for the one that is being served.
 *
 *   IDLE --first byte--> HEAD --head complete--> BUSY --answered--> IDLE ...
 *                                                  \--upgraded--> TUNNEL
 *   any --to be closed, with bytes unread--> LINGER --> closed
 *
 *   IDLE --preface of HTTP/2, or ALPN--> MUX
 *
 * While it is IDLE it holds no buffer: this struct, and the kernel's socket,
 * are the whole cost of an idle connection.
 *
 * A stream of HTTP/2 is a client, too (client_http2.c): its connection is the
 * stream (net/stream/stream.h), it has one request, and its address and trust
 * are those of the connection that carries it. Threads: owned. */
#ifndef BIDE_PROXY_FRONT_CLIENT_H
#define BIDE_PROXY_FRONT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "net/buf.h"
#include "net/conn.h"
#include "net/http1/head.h"
#include "net/loop.h"

struct exchange;
struct sockaddr;
struct worker;

enum client_phase {
    CLIENT_IDLE,
    CLIENT_PROXIED, /* identifies itself first (PROXY protocol) */
    CLIENT_HANDSHAKE,
    CLIENT_HEAD,
    CLIENT_BUSY,
    CLIENT_TUNNEL,
    CLIENT_MUX, /* HTTP/2: each stream is a client of its own */
    CLIENT_LINGER,
    CLIENT_CLOSED
};

struct client {
    struct net_conn conn; /* first: events refer to it */
    struct net_grave grave;
    struct net_timer timer; /* may fire before until_ns: then it is set again */
    struct net_task task;   /* continues what it left */
    int64_t until_ns;       /* when it is closed unless it makes progress */
    struct worker *worker;
    struct bide__list all; /* in worker->clients */
    struct client *next;   /* on the free list */
    struct net_buf *in;         /* what was read and not used yet */
    struct exchange *ex; /* reading a head, or being served; NULL when idle */
    union {
        struct mux *mux;        /* CLIENT_MUX: its streams */
        struct client *carrier; /* is_stream: what it is a stream of */
    };
    uint8_t address[16]; /* of the client */
    uint8_t address_len; /* 4, 16; 0: a Unix socket */
    uint8_t phase;       /* enum client_phase */
    bool trusted;        /* its overrides are obeyed */
    bool tls;
    bool is_stream;
    bool begun;   /* something was read: the protocol is known */
    bool in_run;  /* client_run() is on the stack */
    bool nobody;  /* has no connection: what it is sent is dropped */
    uint16_t port;
    uint32_t lingered; /* bytes discarded */
    uint32_t place;    /* of its address (per_client.h); 0: none */
};

_Static_assert(sizeof(struct client) <= 256, "an idle connection is small");

/* Accepts a connection; closes fd if it cannot. */
void client_new(struct worker *w, int fd, const struct sockaddr *from);

/* The exchange is over and its response was sent completely; or it was not, and
 * the connection can no longer be used. Frees the exchange. */
void client_done(struct client *c);
void client_abort(struct client *c);

/* A client without a connection, in place of this one, which has left or is
 * answered otherwise: its exchange goes on there. NULL: no memory. */
struct client *client_nobody(const struct client *c);

/* Its address is known: begins with TLS, or waits for a request. */
void client_begin(struct client *c);

/* Continues with whatever can be done. */
void client_run(struct client *c);

/* It must make progress by `at_ns`, or the connection is closed;
 * BIDE_FOREVER. */
void client_until(struct client *c, int64_t at_ns);

/* The connection that it came on, with a descriptor and perhaps TLS. */
struct net_conn *client_socket(struct client *c);

/* For client_http2.c: a client that is not in any list. NULL: no memory. And
 * what its events are. */
struct client *client_alloc(struct worker *w);
void client_prepare(struct client *c, struct worker *w);

/* ===== client_head.c ===== */

/* One step towards a complete head; false: nothing more can be done now. */
bool client_read_head(struct client *c);

/* It is idle: frees its buffer. */
void client_rest(struct client *c);

#endif
