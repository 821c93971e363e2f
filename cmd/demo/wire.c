/* One attempt of a client: connect where there is no connection, send, read the
 * answer. What came of it is told in the transport's words; what to make of
 * that is the engine's. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cmd/demo/demo.h"

static void fail(struct demo_client *c, bide_fault fault)
{
    bide_response r = { .fault = fault, .not_sent = !c->sent };
    net_conn_close(&c->conn);
    demo_attempt_ended(c, &r);
}

/* True: the request is on its way. */
static bool push(struct demo_client *c)
{
    char text[160];
    const struct net_address *a = &c->fleet->origin;
    int len = snprintf(text, sizeof text,
                       "GET /%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                       "X-Bide-Attempt: %u\r\n\r\n",
                       demo_fleet_name(c->fleet->number),
                       ntohs(a->to.in.sin_port), c->attempt);
    ssize_t n = net_write(&c->conn, text, (size_t)len);

    c->sent = n > 0;
    return n == len;
}

/* Reads what there is; the attempt may be over then. */
static void pull(struct demo_client *c)
{
    for (;;) {
        ssize_t n = net_read(&c->conn, c->in + c->n_in, sizeof c->in - c->n_in);
        if (n == NET_AGAIN)
            return;
        if (n <= 0) {
            fail(c, BIDE_FAULT_RESET);
            return;
        }
        c->n_in += (size_t)n;
        int head = http1_parse(&c->head, c->in, c->n_in);
        size_t whole = (size_t)head + c->head.content_length;
        if (head < 0 || (head > 0 && whole > sizeof c->in)) {
            fail(c, BIDE_FAULT_MALFORMED);
            return;
        }
        if (head == 0 || c->n_in < whole)
            continue;
        bide_response r = { .status = c->head.status, .method = "GET" };
        if (!c->head.keep_alive || c->n_in > whole)
            net_conn_close(&c->conn);
        demo_attempt_ended(c, &r);
        return;
    }
}

void demo_wire_ready(struct net_io *io, unsigned events)
{
    struct demo_client *c =
        (struct demo_client *)(void *)((char *)io -
                                       offsetof(struct demo_client, conn.io));

    net_conn_note(&c->conn, events);
    if (c->state != DEMO_TRIES) {
        if (c->conn.readable) /* nobody asked: it was closed */
            net_conn_close(&c->conn);
        return;
    }
    if (!c->sent && c->conn.writable) {
        if (net_connect_result(io->fd) != 0) {
            fail(c, BIDE_FAULT_CONNECT);
            return;
        }
        if (!push(c)) {
            fail(c, BIDE_FAULT_RESET);
            return;
        }
    }
    if (c->sent && c->conn.readable)
        pull(c);
}

bool demo_wire_send(struct demo_client *c)
{
    c->sent = false;
    c->n_in = 0;
    http1_response_init(&c->head, NULL, HTTP1_FIELDS, sizeof c->in, HTTP1_GET,
                        false);
    if (c->conn.io.fd >= 0 && push(c))
        return true;
    net_conn_close(&c->conn); /* gone since the last call: a new one */
    c->conn = (struct net_conn){ .io = { demo_wire_ready, -1 } };
    c->sent = false;
    int fd = net_connect(&c->fleet->origin);
    if (fd < 0 || net_loop_add(&c->all->loop, &c->conn.io, fd) < 0) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    net_nodelay(fd);
    return true;
}
