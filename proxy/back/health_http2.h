/* proxy/back/health_http2.h: one health check over HTTP/2, on a connection of its
 * own: of a path, or by gRPC, Health/Check of grpc.health.v1 for a service.
 *
 *     struct health_http2 g;
 *     health_http2_init(&g, &worker->loop, "10.0.0.1:50051");
 *     health_http2_service(&g, "shop.Cart");   // or: g.path = "/healthz"
 *     g.connected = connected;                 // may begin TLS on g.conn
 *     g.done = done;                           // g->status, g->serving
 *     health_http2_start(&g, &address, until_ns);
 *     ...
 *     health_http2_close(&g);
 *
 * By gRPC an endpoint is healthy if it answers OK, and that the service is
 * SERVING; NOT_SERVING, a service that it does not know, any other status, and
 * silence are failures alike. The memory of one that is open must outlive the
 * round.
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_BACK_HEALTH_HTTP2_H
#define BIDE_PROXY_BACK_HEALTH_HTTP2_H

#include "net/address.h"
#include "net/conn.h"
#include "net/http2/conn.h"
#include "net/loop.h"

enum {
    HEALTH_SERVICE = 120, /* bytes of a service's name, at the most */
    HEALTH_MESSAGE = 64,  /* bytes of an answer's message that are kept */
};

enum health_http2_phase {
    HEALTH_HTTP2_IDLE,
    HEALTH_HTTP2_CONNECTING,
    HEALTH_HTTP2_GREETING, /* TLS */
    HEALTH_HTTP2_ASKED
};

struct health_http2 {
    /* The caller's, after init. */
    void (*done)(struct health_http2 *g);      /* not called after close() */
    bool (*connected)(struct health_http2 *g); /* before the first byte; false:
                                                 give up */

    const char *path; /* NULL: gRPC */

    /* What came of it. */
    int status;   /* of HTTP, of a complete answer; or 0 */
    bool serving; /* gRPC: the service is */

    /* Its own. */
    struct net_conn conn;
    struct net_loop *loop;
    struct net_timer timer;
    struct http2_conn http2;
    struct http2_stream stream;
    struct http2_shared shared;
    struct net_bufs bufs;
    const char *authority;
    enum health_http2_phase phase;
    bool https, ended, lost;
    int heard;       /* the status, before the answer is complete */
    int grpc_status; /* -1: not told */
    uint8_t request[5 + 2 + HEALTH_SERVICE];
    size_t request_len;
    uint8_t message[HEALTH_MESSAGE];
    size_t message_len;
};

/* `authority` outlives it. */
void health_http2_init(struct health_http2 *g, struct net_loop *loop,
                       const char *authority);

/* Which service is asked for; "": the server as a whole. Longer ones than
 * HEALTH_SERVICE are cut: the configuration refuses them. */
void health_http2_service(struct health_http2 *g, const char *service);

/* Begins a check; done() follows, or has been called. */
void health_http2_start(struct health_http2 *g, const struct net_address *to,
                        int64_t until_ns);

/* Ends what is under way, without a word of it. */
void health_http2_close(struct health_http2 *g);

#endif
