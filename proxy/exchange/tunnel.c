/* What follows a 101: bytes, both ways, until both sides are done. */
#include "proxy/exchange/tunnel.h"

#include <string.h>

#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/conn.h"
#include "proxy/back/link.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/front/client.h"
#include "proxy/worker.h"

enum { ROUNDS = 16, MORE = 2 };

/* Copies from one connection to the other through a buffer. 1: some; 0: none
 * now; MORE: there may be more at once; -1: this direction has ended. */
static int pass(struct net_conn *from, struct net_conn *to, struct net_buf *b)
{
    int moved = 0;
    for (int i = 0; i < ROUNDS; i++) {
        while (net_buf_len(b) > 0) {
            ssize_t n = net_write(to, net_buf_at(b), net_buf_len(b));
            if (n == NET_AGAIN)
                return moved;
            if (n < 0)
                return -1;
            b->begin += (uint32_t)n;
            moved = 1;
        }
        b->begin = b->end = 0;
        if (!net_can_read(from))
            return moved;
        ssize_t n = net_read(from, b->data, b->size);
        if (n == NET_AGAIN)
            return moved;
        if (n <= 0)
            return -1;
        b->end = (uint32_t)n;
    }
    return MORE;
}

/* One direction, if it has not ended. */
static int direction(struct net_conn *from, struct net_conn *to,
                     struct net_buf *b, bool *ended)
{
    if (*ended)
        return 0;
    int rc = pass(from, to, b);
    if (rc < 0) {
        *ended = true;
        net_conn_shutdown(to);
    }
    return rc;
}

void tunnel_pump(struct exchange *ex)
{
    struct client *c = ex->client;
    struct attempt *a = ex->winner;
    struct net_conn *up = &a->link->conn;
    int there = direction(&c->conn, up, c->in, &ex->up_ended);
    int back = direction(up, &c->conn, a->in, &ex->down_ended);
    if (ex->up_ended && ex->down_ended) {
        exchange_over(ex);
        client_abort(c);
        return;
    }
    if (there == MORE || back == MORE)
        exchange_later(ex, TODO_PUMP);
    if (there != 0 || back != 0)
        client_until(c, net_after(ex->worker->loop.now_ns,
                                  ex->worker->conf->timeouts.tunnel_ns));
}

/* What was read after the two heads already belongs to the tunnel. */
void tunnel_begin(struct exchange *ex)
{
    struct client *c = ex->client;
    exchange_move(ex, EXCHANGE_TUNNEL);
    c->phase = CLIENT_TUNNEL;
    c->in->begin = ex->in_end;
    ex->winner->until_ns = BIDE_FOREVER;
    count(&ex->worker->counters.tunnels);
    client_until(c, net_after(ex->worker->loop.now_ns,
                              ex->worker->conf->timeouts.tunnel_ns));
    tunnel_pump(ex);
}
