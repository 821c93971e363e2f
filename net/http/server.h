/* net/http/server.h: a small HTTP/1.1 server in an event loop: for little load
 * and anybody who can connect.
 *
 *     static void on_request(struct http_conn *c)
 *     {
 *         http_answer_begin(c, 200);
 *         bide__out_text(&c->out, "Content-Type: text/plain\r\n");
 *         http_answer_end(c, "ok\n", 3);
 *     }
 *     static void on_refused(struct http_conn *c, int status, const char *why)
 *     {
 *         http_answer_begin(c, status);
 *         http_answer_end(c, why, strlen(why));
 *     }
 *
 *     struct http_server s = HTTP_SERVER_INIT;
 *     s.request = on_request;
 *     s.refuse = on_refused;
 *     http_server_listen(&s, &loop, fd);
 *     net_loop_step(&loop);
 *     http_server_done(&s);
 *
 * What a connection does:
 *
 *   GREETING -> READING -> SKIPPING -> ASKED -> WRITING -> READING, or closed
 *    (TLS)       (head)     (body)       |
 *                                        +----> STREAMING -> closed
 *
 * Anybody may connect, so nobody is kept out by those who did: whoever comes
 * gets a place, a moment to ask, and an answer. Where there is no room, the place
 * is taken from the connection that has not moved for longest: taken bytes, that
 * is, for anybody can send some. One that its owner trusts is spared longest; a
 * stream that keeps up comes next. Heads are read strictly, by net/http1; head,
 * body, time, connections, streams and answers that wait to be read are bounded.
 * How to answer is in server_answer.h.
 *
 * Threads: owned, by that of its loop. */
#ifndef BIDE_NET_HTTP_SERVER_H
#define BIDE_NET_HTTP_SERVER_H

#include "base/list.h"
#include "base/out.h"
#include "bide/policy.h"
#include "net/conn.h"
#include "net/http1/head.h"

enum { HTTP_SERVER_FIELDS = 64 };

enum http_conn_phase {
    HTTP_GREETING_CLIENT,
    HTTP_READING,
    HTTP_SKIPPING,
    HTTP_ASKED, /* the owner has the request, and has not answered */
    HTTP_WRITING,
    HTTP_STREAMING,
};

struct http_server;

/* A client. Threads: owned. */
struct http_conn {
    struct net_conn net; /* first. Closed: its descriptor is negative */
    struct http_server *server;
    struct http1_head head; /* of the request, in the bytes at `in` */
    struct http1_field fields[HTTP_SERVER_FIELDS];
    struct bide__out out; /* the answer, as far as it is written */
    bool trusted;         /* for the owner to set, ... */
    uint64_t topic;       /* ... and this as well: what a stream is about */
    bool keep;            /* another request may follow */

    /* Its own. */
    enum http_conn_phase phase;
    bool handing;     /* the owner is being called */
    size_t sent;      /* of `out` */
    uint64_t skip;    /* bytes of the body that are still to come */
    int64_t moved_ns; /* when it came, or took something */
    struct net_timer timer; /* then it is dropped */
    struct net_task again;  /* there is more to read */
    struct net_grave grave;
    struct bide__list link; /* of its server */
    size_t in_len;
    char in[]; /* server->max_head bytes */
};

/* Threads: owned. */
struct http_server {
    /* The owner's, set before it listens. */
    void *user;
    void (*request)(struct http_conn *c); /* answers at once, or later: c is
        there until then, also if the client is not. It is not called meanwhile */
    void (*refuse)(struct http_conn *c, int status, const char *why); /* at once;
        the connection ends */
    void *tls;          /* settings (net/tls.h), not its own; NULL: none */
    size_t connections; /* at once */
    size_t streams;     /* of those */
    size_t waiting;     /* answers that are not read */
    unsigned max_head, max_body;    /* bytes; bodies are thrown away */
    int64_t patience_ns;            /* with a request, an answer, a handshake */
    int64_t idle_ns;                /* between two requests */

    /* Its own. */
    struct net_loop *loop;
    struct net_io listener;
    int fd; /* listens; or negative */
    struct net_timer accepting;
    struct bide__list conns; /* also those who hung up and are not answered */
    size_t n_conns; /* open */
};

#define HTTP_SERVER_INIT                                                       \
    {                                                                          \
        .connections = 256, .streams = 32, .waiting = 32, .max_head = 8192,    \
        .max_body = 4096, .patience_ns = 10 * BIDE_SECOND,                     \
        .idle_ns = 60 * BIDE_SECOND, .fd = -1                                  \
    }

/* Lets clients in from a socket that listens and does not block, and is its own
 * from now on. -1 and errno: it is not. */
int http_server_listen(struct http_server *s, struct net_loop *loop, int fd);

/* Lets in nobody more. */
void http_server_close(struct http_server *s);

/* Drops all clients; with `reset` they see that it broke off. A request that has
 * not been answered must not be. */
void http_server_drop_all(struct http_server *s, bool reset);

/* Both. */
void http_server_done(struct http_server *s);

/* Goes through all clients. What comes next is known before `c` may be dropped;
 * nobody else may be. */
#define HTTP_SERVER_EACH(s, c)                                                 \
    for (struct bide__list *at = (s)->conns.next, *behind;                     \
         at && at != &(s)->conns && (behind = at->next) &&                     \
         (c = bide__container_of(at, struct http_conn, link));                 \
         at = behind)

/* How many are connected, streams not counted. */
unsigned http_server_unanswered(const struct http_server *s);

/* Whether there may be another stream; one that is not read may have to go. */
bool http_server_has_room_for_stream(struct http_server *s);

#endif
