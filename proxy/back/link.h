/* proxy/back/link.h: one connection to an endpoint.
 *
 *   CONNECTING --connected--> IDLE <--used, released--> BUSY
 *        '--to an endpoint that speaks HTTP/2--> SHARED, which has STREAMs
 *   any --> CLOSED
 *
 * A stream of a shared connection is a link of its own (link_http2.c): it has
 * one attempt, and is closed after it.
 *
 * Threads: owned, by the worker. */
#ifndef BIDE_PROXY_BACK_LINK_H
#define BIDE_PROXY_BACK_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "net/conn.h"
#include "net/loop.h"

struct attempt;
struct endpoint;
struct net_buf;
struct mux;
struct pool;
struct worker;

/* One connection to an endpoint. */
struct link {
    struct net_conn conn; /* first: events refer to it */
    struct net_grave grave;
    struct net_timer timer; /* connecting, then idle */
    struct pool *pool;
    struct attempt *attempt; /* that uses it; NULL: idle or connecting */
    struct net_buf *in;      /* what was read and not used yet; NULL: nothing */
    struct bide__list list;   /* of idle, connecting or shared ones */
    struct link *next;        /* on the free list */
    int64_t until_ns;         /* of the timer, which may fire earlier */
    int64_t renew_ns;         /* it is too old then */
    struct mux *mux;          /* its streams; NULL: it has none */
    unsigned moves;           /* of its endpoint, when it was last checked */
    uint8_t client[16];       /* that it is for (link_proxied.c) */
    uint8_t client_len;
    uint16_t client_port;
    uint8_t phase; /* enum link_phase */
    bool reused;   /* carries its second request, or a later one */
    bool handshaking;
};

enum link_phase {
    LINK_CONNECTING,
    LINK_IDLE,
    LINK_BUSY,
    LINK_SHARED,
    LINK_STREAM,
    LINK_CLOSED
};

/* ===== link.c ===== */

/* Returns a connection to the pool, or closes it. It then no longer belongs to
 * its attempt. */
void link_release(struct link *l);
void link_close(struct link *l);

/* For the pool: begins to connect (NULL and errno); removes one from the idle
 * connections; closes one, without serving the line. */
struct link *link_new(struct pool *pool);
void link_use(struct link *l);
void link_drop(struct link *l);

/* Whether its endpoint still has the address it is connected to. */
bool link_leads_there(struct link *l);

/* For link_http2.c: NULL: no memory; its events; it is connected, or failed to
 * (a bide_fault). */
struct link *link_alloc(struct worker *w);
void link_discard(struct link *l); /* that was never used */
void link_ready(struct net_io *io, unsigned events);
void link_connected(struct link *l);
void link_connect_failed(struct link *l, int fault);

/* ===== link_proxied.c ===== */

/* Binds a connection that is being opened to an attempt and its client; whether
 * it is for the client of this one. */
void link_bind(struct link *l, struct attempt *a);
bool link_is_for(const struct link *l, const struct attempt *a);

/* Sends the client's address once it is connected; false: it broke. */
bool link_introduce(struct link *l);

/* The same on the connection of a health check, which has no client. */
bool proxied_health(int fd, const struct endpoint *e);

#endif
