/* Closing so that the client can read what was sent.
 *
 * Unread bytes in the kernel's receive buffer at close() make it send a reset,
 * which can overtake the response. So: shut down sending, and continue
 * reading.
 *
 * A stream of HTTP/2 that is answered early could be reset at once, without an
 * error (RFC 9113, 8.1), but some clients, curl 7.88 among them, then drop the
 * answer. So its client too may send the rest first. */
#include "bide/run.h"
#include "net/buf.h"
#include "net/conn.h"
#include "net/stream/stream.h"
#include "proxy/front/client.h"
#include "proxy/front/client_linger.h"
#include "proxy/worker.h"

enum {
    LINGER_MS = 2000,      /* for the client to read what was sent ... */
    LINGER_BYTES = 1 << 24 /* ... while it may still send this much */
};

/* A stream is over with its request; its answer is sent in any case. */
static bool has_ended(const struct client *c)
{
    return c->is_stream && !stream_is_early(&c->conn);
}

void client_linger(struct client *c)
{
    struct worker *w = c->worker;
    if (c->conn.hup || has_ended(c)) {
        client_abort(c);
        return;
    }
    c->phase = CLIENT_LINGER;
    if (c->is_stream) /* what has come is window that its client waits for */
        net_task_later(&w->loop, &c->task);
    else
        net_conn_shutdown(&c->conn);
    net_buf_give(&w->bufs, c->in);
    c->in = NULL;
    client_until(c, w->loop.now_ns + LINGER_MS * BIDE_MILLISECOND);
}

/* A piece at a time: the steps are counted. */
bool client_discard(struct client *c)
{
    char bin[16384];
    if (has_ended(c)) {
        client_abort(c);
        return false;
    }
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
