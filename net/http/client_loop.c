/* net/http/client_loop.c: a client that runs in an event loop. */
#include "base/list.h"
#include "net/http/client_loop.h"

#include <stddef.h>

static void over(struct http_client *c)
{
    net_timer_cancel(c->loop, &c->timer);
    c->done(c);
}

static void ready(struct net_io *io, unsigned events)
{
    struct http_client *c = bide__container_of(io, struct http_client, conn.io);

    if (c->phase == HTTP_IDLE) { /* a keep-alive connection: was it closed? */
        net_conn_note(&c->conn, events);
        if (!net_conn_quiet(&c->conn))
            net_conn_close(&c->conn);
        return;
    }
    http_client_step(c, events);
    if (c->phase == HTTP_IDLE)
        over(c);
}

static void fire(struct net_timer *timer)
{
    struct http_client *c =
        bide__container_of(timer, struct http_client, timer);

    http_client_stop(c, BIDE_FAULT_TIMEOUT, ETIMEDOUT);
    c->done(c);
}

bool http_client_start(struct http_client *c, struct net_loop *loop,
                       const struct http_request *r)
{
    c->loop = loop;
    c->conn.io.ready = ready;
    c->timer.fire = fire;
    if (!http_client_begin(c, r))
        return false;
    if (c->phase == HTTP_SENDING)
        http_client_step(c, 0);
    else if (net_loop_add(loop, &c->conn.io, c->conn.io.fd) < 0)
        http_client_stop(c, BIDE_FAULT_LOCAL, errno);
    if (c->phase == HTTP_IDLE)
        return false;
    net_timer_set(loop, &c->timer, r->until_ns);
    return true;
}
