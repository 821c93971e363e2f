/* The origins: four listening sockets of loopback, one thread, HTTP/1.1 with
 * keep-alive. They are real servers, on ports that anybody on this machine can
 * reach for half a minute: what is sent to them is read strictly, and the
 * number of connections is bounded. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "cmd/demo/demo.h"

enum { SPARE_CONNECTIONS = 128 };

/* ===== connections ===== */

static void free_connection(void *user, struct net_grave *grave)
{
    (void)user;
    free(grave);
}

static void bury(struct demo_connection *c)
{
    struct demo_origin *o = c->origin;

    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        o->connections = c->next;
    net_timer_cancel(o->desk.loop, &c->work);
    net_loop_bury(o->desk.loop, &c->grave, free_connection);
}

static void hang_up(struct demo_connection *c)
{
    if (c->conn.io.fd >= 0) {
        net_conn_close(&c->conn);
        c->origin->n_connections--;
    }
    if (!c->taken)
        bury(c);
}

static void begin_request(struct demo_connection *c, size_t used)
{
    c->n_in -= used;
    memmove(c->in, c->in + used, c->n_in);
    http1_request_init(&c->head, NULL, HTTP1_FIELDS, sizeof c->in);
}

static const char *answer_text(int status)
{
    switch (status) {
    case 200:
        return "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
    case 503:
        return "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    default:
        return "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n"
               "Connection: close\r\n\r\n";
    }
}

/* Whether the connection is good for more. An answer of two lines that does not
 * fit a socket's buffer is for somebody who does not read: no more of that. */
static bool say(struct demo_connection *c, int status)
{
    const char *text = answer_text(status);
    size_t len = strlen(text);

    return net_write(&c->conn, text, len) == (ssize_t)len && status != 400 &&
           c->head.keep_alive;
}

/* Reads until a request is whole; true if there may be more to do. */
static bool read_request(struct demo_connection *c)
{
    int rc = http1_parse(&c->head, c->in, c->n_in);

    if (rc == 0) {
        ssize_t n = net_read(&c->conn, c->in + c->n_in, sizeof c->in - c->n_in);
        if (n == NET_AGAIN)
            return false;
        if (n > 0) {
            c->n_in += (size_t)n;
            return true;
        }
    }
    if (rc < 0 || (rc > 0 && c->head.framing != HTTP1_NO_BODY))
        say(c, 400); /* nobody here sends such a thing */
    if (rc <= 0 || c->head.framing != HTTP1_NO_BODY) {
        hang_up(c);
        return false;
    }
    demo_tally_add(&c->origin->fleet->tally, DEMO_ARRIVED,
                   c->origin->desk.loop->now_ns);
    demo_desk_take(&c->origin->desk, c);
    return c->conn.io.fd >= 0 && !c->taken;
}

void demo_serve(struct demo_connection *c)
{
    if (c->conn.io.fd < 0 || c->taken)
        return;
    while (read_request(c))
        ;
}

void demo_answer(struct demo_connection *c, int status)
{
    c->taken = false;
    if (c->conn.io.fd < 0 || !say(c, status))
        hang_up(c);
    else
        begin_request(c, c->head.head_len);
}

static void on_ready(struct net_io *io, unsigned events)
{
    struct demo_connection *c =
        bide__container_of(io, struct demo_connection, conn.io);

    net_conn_note(&c->conn, events);
    if (c->taken && c->conn.hup)
        hang_up(c);
    else
        demo_serve(c);
}

/* ===== listening ===== */

static void welcome(struct demo_origin *o, int fd)
{
    struct demo_connection *c = calloc(1, sizeof *c);

    if (!c || net_loop_add(o->desk.loop, &c->conn.io, fd) < 0) {
        close(fd);
        free(c);
        return;
    }
    c->conn.io.ready = on_ready;
    c->origin = o;
    c->next = o->connections;
    if (c->next)
        c->next->prev = c;
    o->connections = c;
    o->n_connections++;
    net_nodelay(fd);
    begin_request(c, 0);
}

static void on_listener(struct net_io *io, unsigned events)
{
    struct demo_origin *o = (struct demo_origin *)(void *)io;
    unsigned most = o->fleet->demo->plan.clients + SPARE_CONNECTIONS;
    int fd;

    (void)events;
    while ((fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >=
           0) {
        if (o->n_connections < most)
            welcome(o, fd);
        else
            close(fd);
    }
}

bool demo_origin_listen(struct demo_origin *o)
{
    struct net_address *a = &o->fleet->origin;
    int fd;

    net_address_parse(a, "127.0.0.1", 0);
    fd = net_listen(a, 0);
    if (fd < 0)
        return false;
    if (getsockname(fd, &a->to.any, &a->len) < 0 ||
        net_loop_add_level(o->desk.loop, &o->listener, fd, 0) < 0) {
        close(fd);
        return false;
    }
    o->listener.ready = on_listener;
    return true;
}

/* All who are connected are cut off, at the same moment. */
void demo_origin_crash(struct demo_origin *o)
{
    const struct linger at_once = { 1, 0 };

    for (struct demo_connection *c = o->connections, *next; c; c = next) {
        next = c->next;
        if (c->conn.io.fd >= 0)
            setsockopt(c->conn.io.fd, SOL_SOCKET, SO_LINGER, &at_once,
                       sizeof at_once);
        c->taken = false;
        hang_up(c);
    }
    demo_desk_clear(&o->desk);
}
