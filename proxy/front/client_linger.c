/* Closing so that the client can read what was sent.
 *
 * Unread bytes in the kernel's receive buffer at close() make it send a reset,
 * which can overtake the response. So: shut down sending, and continue
 * reading. */
#include "bide/run.h"
#include "net/buf.h"
#include "net/conn.h"
#include "proxy/front/client.h"
#include "proxy/front/client_linger.h"
#include "proxy/worker.h"

enum {
    LINGER_MS = 2000,      /* for the client to read what was sent ... */
    LINGER_BYTES = 1 << 24 /* ... while it may still send this much */
};

void client_linger(struct client *c)
{
    struct worker *w = c->worker;
    if (c->conn.hup || c->is_stream) {
        client_abort(c);
        return;
    }
    c->phase = CLIENT_LINGER;
    net_conn_shutdown(&c->conn);
    net_buf_give(&w->bufs, c->in);
    c->in = NULL;
    client_until(c, w->loop.now_ns + LINGER_MS * BIDE_MILLISECOND);
}

/* A piece at a time: the steps are counted. */
bool client_discard(struct client *c)
{
    char bin[16384];
    if (!net_can_read(&c->conn))
        return false;
    ssize_t n = net_read(&c->conn, bin, sizeof bin);
    if (n == NET_AGAIN)
        return false;
    c->lingered += n > 0 ? (uint32_t)n : 0;
    if (n <= 0 || c->lingered > LINGER_BYTES) {
        client_abort(c);
        return false;
    }
    return true;
}
