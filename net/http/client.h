/* net/http/client.h: an HTTP/1.1 client: a request, its answer, and perhaps
 * another request on the same connection.
 *
 *     char in[8192];
 *     struct http_client c;
 *     struct bide__out body = { 0 };
 *     struct http_request r = { .to = &address, .method = "GET",
 *                               .target = "/api/state", .host = "localhost",
 *                               .until_ns = bide_now_ns() + 3 * BIDE_SECOND,
 *                               .into = &body, .max_body = 1 << 20 };
 *     http_client_init(&c, in, sizeof in);
 *     if (http_client_run(&c, &r, NULL) == BIDE_FAULT_NONE)
 *         use(c.head.status, body.data, body.len);
 *     http_client_close(&c);
 *
 * That waits. In an event loop (client_loop.h) the same goes on beside everything
 * else:
 *
 *     c.done = on_done;                    // answered, or c->fault
 *     if (!http_client_start(&c, loop, &r))
 *         failed(c.fault);                 // at once: on_done is not called
 *
 * Both drive one machine:
 *
 *   CONNECTING -> GREETING -> SENDING -> HEAD -> BODY -> IDLE
 *                  (TLS)         ^                        |
 *                                +--- a kept connection --+
 *
 * The server is trusted with nothing: the head is read strictly, by
 * net/http1, interim answers (1xx) are skipped, and head, body and time are
 * bounded. `until_ns` is a deadline for all of it, however steadily bytes come.
 * An answer that comes before the request has been taken counts, and ends the
 * connection.
 *
 * Names are not looked up here: a program that is linked statically cannot
 * (net/lookup.h for those that can). */
#ifndef BIDE_NET_HTTP_CLIENT_H
#define BIDE_NET_HTTP_CLIENT_H

#include "base/out.h"
#include "bide/outcome.h"
#include "bide/run.h"
#include "net/address.h"
#include "net/conn.h"
#include "net/http1/body.h"

enum {
    HTTP_CLIENT_ROOM = 256, /* bytes of `in` that a head must leave */
    HTTP_CLIENT_OUT = 1024, /* bytes of a request's head */
    HTTP_CLIENT_BODY = 3,   /* pieces of a request's body */
};

/* Copied when it begins, all but the bytes of the body and what `into` points
 * to. Threads: owned. */
struct http_request {
    const struct net_address *to; /* NULL: only over a kept connection */
    const char *method, *target, *host;
    const char *headers; /* more lines, each with CR LF; or NULL. Those that
                            frame the message are added */
    struct iovec body[HTTP_CLIENT_BODY]; /* sent in this order */
    bool keep;        /* another request shall follow on the connection */
    int64_t until_ns; /* the deadline, on the clock of bide_now_ns() */

    /* Where the answer's body is appended, if that is wanted. Otherwise the
     * answer counts as soon as its head is there. The body is then read only to
     * keep the connection; one that is late, cut off or too long ends it. */
    struct bide__out *into;
    size_t max_body;
};

enum http_client_phase {
    HTTP_IDLE,
    HTTP_CONNECTING,
    HTTP_GREETING,
    HTTP_SENDING,
    HTTP_HEAD,
    HTTP_BODY,
};

/* Threads: owned. */
struct http_client {
    /* The caller's, after init. */
    void (*done)(struct http_client *c); /* in a loop: it is IDLE again, or
                                            closed. Not called after close() */
    bool (*connected)(struct http_client *c); /* before the first byte: may send
                                            some, or begin TLS on c->conn, whose
                                            handshake is then awaited; or NULL.
                                            False: give up */
    struct http1_field *fields; /* to see the answer's header lines: room for
                                   HTTP1_FIELDS; or NULL */

    /* What came of it. */
    bide_fault fault;
    int error;              /* an errno that says more; or 0 */
    bool sent;              /* some of the request may have arrived */
    struct http1_head head; /* the answer's, of the bytes at `in` */
    char *in;

    /* Its own. */
    struct net_conn conn; /* kept while IDLE; or io.fd is negative */
    struct net_loop *loop; /* NULL: none, somebody waits */
    struct net_timer timer;
    struct http_request request;
    enum http_client_phase phase;
    bool keep, cut; /* cut: it cannot take the rest of the request */
    size_t in_size, in_len, at; /* at: of the body, what has been used */
    uint64_t body_len;
    struct http1_body body;
    int part;
    struct iovec parts[1 + HTTP_CLIENT_BODY]; /* unsent from `part` on */
    char out[HTTP_CLIENT_OUT];
};

/* `in` takes heads that are HTTP_CLIENT_ROOM bytes shorter than it is, at most
 * HTTP1_HEAD_MOST, and stays the caller's. */
void http_client_init(struct http_client *c, char *in, size_t size);

/* Whether the head of a request is short enough to be sent. */
bool http_client_fits(struct http_client *c, const struct http_request *r);

/* Makes a request and waits for what comes of it, c->fault. `cancel` may be
 * NULL; it is seen within 50 ms. */
bide_fault http_client_run(struct http_client *c, const struct http_request *r,
                           bide_cancel *cancel);

/* Whether there is a kept connection that can take a request. */
bool http_client_is_open(struct http_client *c);

/* Ends what is under way, without a word of it, and the connection. */
void http_client_close(struct http_client *c);

/* ===== for a driver of one's own ===== */

/* Begins: false, and c->fault; or CONNECTING, or SENDING. */
bool http_client_begin(struct http_client *c, const struct http_request *r);

/* Goes on, with what the kernel says of the connection (EPOLLIN, ...). IDLE: it
 * is over. */
void http_client_step(struct http_client *c, unsigned events);

/* Gives up for a reason. The answer counts if its body alone is missing, and is
 * not wanted. */
void http_client_stop(struct http_client *c, bide_fault fault, int error);

#endif
