/* net/http/server.c: accepts and closes connections. */
#include "net/http/server.h"
#include "net/http/server_conn.h"
#include "net/http/server_room.h"

#include <stdlib.h>

#include "net/address.h"
#include "net/tls.h"

enum {
    AT_ONCE = 16, /* clients accepted before others are served */
    SEND = 65536, /* bytes that the kernel buffers for a slow reader */
};

#define REST_NS  (100 * BIDE_MILLISECOND) /* when accept() fails */
#define CROWD_NS (6 * BIDE_MILLISECOND)   /* when all have only just arrived */

/* ===== a client ===== */

static void bury(void *user, struct net_grave *grave)
{
    struct http_conn *c = bide__container_of(grave, struct http_conn, grave);

    (void)user;
    bide__out_done(&c->out);
    free(c);
}

void http_conn_drop(struct http_conn *c, bool reset)
{
    struct http_server *s = c->server;

    if (c->net.io.fd >= 0)
        s->n_conns--;
    if (reset)
        net_conn_break(&c->net, true);
    else
        net_conn_close(&c->net);
    net_timer_cancel(s->loop, &c->timer);
    net_task_cancel(&c->again);
    if (c->phase == HTTP_ASKED)
        return; /* until it is answered */
    bide__list_remove(&c->link);
    net_loop_bury(s->loop, &c->grave, bury);
}

static void fire(struct net_timer *timer)
{
    http_conn_drop(bide__container_of(timer, struct http_conn, timer), false);
}

/* The request may have arrived already: then it is answered before another
 * client can take this one's place. */
static void add_client(struct http_server *s, int fd)
{
    int room = SEND;
    struct http_conn *c = calloc(1, sizeof *c + s->max_head);

    if (!c || net_loop_add(s->loop, &c->net.io, fd) < 0) {
        close(fd);
        free(c);
        return;
    }
    net_nodelay(fd);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    c->net.io.ready = http_conn_ready;
    c->net.readable = true;
    c->server = s;
    c->timer.fire = fire;
    c->again.run = http_conn_again;
    c->moved_ns = s->loop->now_ns;
    bide__list_push(&s->conns, &c->link);
    s->n_conns++;
    if (s->tls && net_tls_accept(&c->net, s->tls) < 0)
        http_conn_drop(c, false);
    else
        http_conn_begin(c);
}

/* ===== accepting ===== */

/* Accepts one client. Returns how long to pause before the next, or -1: no one
 * else is waiting. */
static int64_t take_client(struct http_server *s)
{
    struct http_conn *goes;

    if (!http_server_has_room(s, &goes))
        return CROWD_NS;
    int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) /* out of descriptors, say: the socket stays ready */
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED
                   ? -1
                   : REST_NS;
    if (goes)
        http_conn_drop(goes, false);
    add_client(s, fd);
    return 0;
}

static void take_clients(struct net_timer *timer)
{
    struct http_server *s =
        bide__container_of(timer, struct http_server, accepting);
    int64_t rest_ns = 0;

    for (int n = 0; rest_ns == 0 && n < AT_ONCE; n++)
        rest_ns = take_client(s);
    if (rest_ns > 0 || net_loop_add_level(s->loop, &s->listener, s->fd, 0) < 0)
        net_timer_set(s->loop, timer,
                      s->loop->now_ns + (rest_ns > 0 ? rest_ns : REST_NS));
}

/* Connected clients come first: timers run after all events. */
static void on_listener(struct net_io *io, unsigned events)
{
    struct http_server *s = bide__container_of(io, struct http_server, listener);

    (void)events;
    net_loop_remove(s->loop, io);
    net_timer_set(s->loop, &s->accepting, s->loop->now_ns);
}

int http_server_listen(struct http_server *s, struct net_loop *loop, int fd)
{
    s->loop = loop;
    bide__list_init(&s->conns);
    s->listener = (struct net_io){ .ready = on_listener, .fd = -1 };
    s->accepting.fire = take_clients;
    if (net_loop_add_level(loop, &s->listener, fd, 0) < 0)
        return -1;
    s->fd = fd;
    return 0;
}

/* ===== the end ===== */

void http_server_close(struct http_server *s)
{
    if (s->fd < 0)
        return;
    net_timer_cancel(s->loop, &s->accepting);
    if (s->listener.fd >= 0) /* other processes may share the socket: closing
                                it would not remove it from epoll */
        net_loop_remove(s->loop, &s->listener);
    close(s->fd);
    s->fd = -1;
}

void http_server_drop_all(struct http_server *s, bool reset)
{
    struct http_conn *c;
    HTTP_SERVER_EACH(s, c) {
        c->phase = HTTP_READING; /* no one will answer it */
        http_conn_drop(c, reset);
    }
}

void http_server_done(struct http_server *s)
{
    http_server_close(s);
    http_server_drop_all(s, false);
}
