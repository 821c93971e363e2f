/* net/http/client_run.c: a client that blocks. */
#include "net/http/client.h"

#include <poll.h>

enum { SLICE_MS = 50 };

/* Waits in short slices, so that a cancellation takes effect even if the server
 * is silent. poll() and epoll use the same bits. */
static bide_fault await(const struct http_client *c, const bide_cancel *cancel,
                        unsigned *ret_events)
{
    bool writes = c->phase == HTTP_CONNECTING || c->phase == HTTP_SENDING;
    struct pollfd p = { .fd = c->conn.io.fd,
                        .events = writes ? POLLIN | POLLOUT : POLLIN };

    while (p.revents == 0) {
        int64_t left_ns = c->request.until_ns - bide_now_ns();
        if (cancel && bide_cancelled(cancel))
            return BIDE_FAULT_CANCELLED;
        if (left_ns <= 0)
            return BIDE_FAULT_TIMEOUT;
        int ms = left_ns > SLICE_MS * BIDE_MILLISECOND
                     ? SLICE_MS
                     : (int)(left_ns / BIDE_MILLISECOND) + 1;
        if (poll(&p, 1, ms) < 0)
            p.revents = 0;
    }
    *ret_events = (unsigned)p.revents;
    return BIDE_FAULT_NONE;
}

bide_fault http_client_run(struct http_client *c, const struct http_request *r,
                           bide_cancel *cancel)
{
    unsigned events = 0;

    if (!http_client_begin(c, r))
        return c->fault;
    if (c->phase == HTTP_SENDING)
        http_client_step(c, 0);
    while (c->phase != HTTP_IDLE) {
        bide_fault fault = await(c, cancel, &events);
        if (fault == BIDE_FAULT_NONE)
            http_client_step(c, events);
        else
            http_client_stop(c, fault, ETIMEDOUT);
    }
    return c->fault;
}
