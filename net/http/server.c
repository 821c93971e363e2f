/* net/http/server.c: who is let in, and who has to go when there is no room. */
#include "net/http/server.h"

#include <sys/socket.h>

enum { AT_ONCE = 16 }; /* that are accepted before others are served */

#define MOMENT_NS (50 * BIDE_MILLISECOND)  /* that everybody gets */
#define REST_NS   (100 * BIDE_MILLISECOND) /* when accept() fails */

/* ===== who goes ===== */

bool http_conn_is_behind(const struct http_conn *c)
{
    return c->sent < c->out.len;
}

/* The higher, the longer they are spared. */
static int rank(const struct http_conn *c)
{
    return c->trusted ? 2
                      : c->phase == HTTP_STREAMING && !http_conn_is_behind(c);
}

static bool goes_first(const struct http_conn *a, const struct http_conn *b)
{
    return rank(a) != rank(b) ? rank(a) < rank(b) : a->moved_ns < b->moved_ns;
}

typedef bool test(const struct http_conn *c);

/* Of those that are open, the one that goes first; and how many there are. */
static struct http_conn *first_of(const struct http_server *s, test *among,
                                  size_t *ret_n)
{
    struct http_conn *first = NULL;

    *ret_n = 0;
    for (struct http_conn *c = s->conns; c; c = c->next) {
        if (c->net.io.fd < 0 || !among(c))
            continue;
        ++*ret_n;
        if (!first || goes_first(c, first))
            first = c;
    }
    return first;
}

static bool is_any(const struct http_conn *c)
{
    (void)c;
    return true;
}

static bool is_waiting(const struct http_conn *c)
{
    return c->phase == HTTP_WRITING && http_conn_is_behind(c);
}

static bool is_stream(const struct http_conn *c)
{
    return c->phase == HTTP_STREAMING;
}

static bool has_had_a_moment(const struct http_conn *c)
{
    return c->server->loop->now_ns - c->moved_ns >= MOMENT_NS;
}

void http_server_bound_waiting(struct http_server *s)
{
    size_t n;
    struct http_conn *c = first_of(s, is_waiting, &n);

    if (n > s->waiting)
        http_conn_drop(c, false);
}

bool http_server_has_room_for_stream(struct http_server *s)
{
    size_t n;
    struct http_conn *c = first_of(s, is_stream, &n);

    if (n < s->streams)
        return true;
    if (!http_conn_is_behind(c) || !has_had_a_moment(c))
        return false;
    http_conn_drop(c, false);
    return true;
}

unsigned http_server_unanswered(const struct http_server *s)
{
    size_t streams;
    first_of(s, is_stream, &streams);
    return (unsigned)(s->n_conns - streams);
}

/* ===== letting in ===== */

/* Lets one in; for how long to rest then, or -1: nobody else is there. */
static int64_t take_client(struct http_server *s)
{
    size_t n;
    struct http_conn *goes = first_of(s, is_any, &n);

    if (n < s->connections)
        goes = NULL;
    else if (!has_had_a_moment(goes))
        return MOMENT_NS / 8;
    int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) /* no descriptors, say: the socket stays ready */
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED
                   ? -1
                   : REST_NS;
    if (goes)
        http_conn_drop(goes, false);
    http_conn_add(s, fd);
    return 0;
}

static void take_clients(struct net_timer *timer)
{
    struct http_server *s =
        (void *)((char *)timer - offsetof(struct http_server, accepting));
    int64_t rest_ns = 0;

    for (int n = 0; rest_ns == 0 && n < AT_ONCE; n++)
        rest_ns = take_client(s);
    if (rest_ns > 0 || net_loop_add_level(s->loop, &s->listener, s->fd, 0) < 0)
        net_timer_set(s->loop, timer,
                      s->loop->now_ns + (rest_ns > 0 ? rest_ns : REST_NS));
}

/* Those who are connected come first: timers run after all events. */
static void on_listener(struct net_io *io, unsigned events)
{
    struct http_server *s =
        (void *)((char *)io - offsetof(struct http_server, listener));

    (void)events;
    net_loop_remove(s->loop, io);
    net_timer_set(s->loop, &s->accepting, s->loop->now_ns);
}

int http_server_listen(struct http_server *s, struct net_loop *loop, int fd)
{
    s->loop = loop;
    s->listener = (struct net_io){ on_listener, -1 };
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
    if (s->listener.fd >= 0) /* others may have the socket as well: closing it
                                would not take it out */
        net_loop_remove(s->loop, &s->listener);
    close(s->fd);
    s->fd = -1;
}

void http_server_drop_all(struct http_server *s, bool reset)
{
    while (s->conns) {
        s->conns->phase = HTTP_READING; /* nobody answers it any more */
        http_conn_drop(s->conns, reset);
    }
}

void http_server_done(struct http_server *s)
{
    http_server_close(s);
    http_server_drop_all(s, false);
}
