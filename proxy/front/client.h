/* proxy/front/client.h: a client's connection: reads requests one after the other,
 * and has an exchange for the one that is being served.
 *
 *   IDLE --first byte--> HEAD --head complete--> BUSY --answered--> IDLE ...
 *                                                  \--upgraded--> TUNNEL
 *   any --to be closed, with bytes unread--> LINGER --> closed
 *
 * While it is IDLE it holds no buffer: this struct, and the kernel's socket,
 * are the whole cost of an idle connection. Threads: owned. */
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
    uint8_t address[16]; /* of the client */
    uint8_t address_len; /* 4, 16; 0: a Unix socket */
    uint8_t phase;       /* enum client_phase */
    bool trusted;        /* its overrides are obeyed */
    bool tls;
    bool closing; /* after this response */
    bool in_run;  /* client_run() is on the stack */
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

/* Its address is known: begins with TLS, or waits for a request. */
void client_begin(struct client *c);

/* Continues with whatever can be done. */
void client_run(struct client *c);

/* It must make progress by `at_ns`, or the connection is closed;
 * BIDE_FOREVER. */
void client_until(struct client *c, int64_t at_ns);

/* ===== client_head.c ===== */

/* One step towards a complete head; false: nothing more can be done now. */
bool client_read_head(struct client *c);

/* It is idle: frees its buffer. */
void client_rest(struct client *c);

#endif
