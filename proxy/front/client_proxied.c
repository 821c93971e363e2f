/* A client's address when another proxy has accepted it: the header of the
 * PROXY protocol, before anything else, even TLS.
 *
 * Only a trusted sender is asked for one, and it must send one: a request
 * without it would be taken for the sender's own. From any other sender a
 * header is refused like any malformed request. So no client can impersonate
 * another.
 *
 * The header is peeked in the socket, and only its own bytes are consumed: what
 * follows may be for the TLS library, which reads the socket itself. */
#include <errno.h>
#include <stdio.h>

#include "config/proxy/conf.h"
#include "net/conn.h"
#include "net/proxy_protocol.h"
#include "proxy/front/client.h"
#include "proxy/front/client_address.h"
#include "proxy/front/client_limits.h"
#include "proxy/front/client_linger.h"
#include "proxy/generation.h"
#include "proxy/worker.h"

bool client_is_proxied(const struct client *c)
{
    return c->worker->conf->proxy_protocol == BIDE__PROXY_PROTOCOL_ACCEPT &&
           c->trusted;
}

static bool refuse(struct client *c)
{
    const struct worker *w = c->worker;
    char text[256];
    count(&c->worker->counters.refused);
    if (w->generation->tls) {
        client_abort(c);
        return false;
    }
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n"
                     "%sConnection: close\r\n\r\n",
                     w->conf->headers.bide ? "X-Bide-Reason: proxy_protocol\r\n"
                                           : "");
    (void)!net_write(&c->conn, text, (size_t)n);
    client_linger(c);
    return true;
}

/* Not all of it is there. */
static bool wait_for_more(struct client *c)
{
    c->conn.readable = false;
    if (c->conn.hup)
        client_abort(c);
    return false;
}

bool client_read_proxied(struct client *c)
{
    char bytes[NET_PROXIED_MAX];
    struct net_proxied from;
    int fd = c->conn.io.fd;
    if (!net_can_read(&c->conn))
        return false;
    ssize_t n = recv(fd, bytes, sizeof bytes, MSG_PEEK);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return wait_for_more(c);
    if (n <= 0) {
        client_abort(c);
        return false;
    }
    int len = net_proxied_read(bytes, (size_t)n, &from);
    if (len == 0)
        return wait_for_more(c);
    /* A reload may have revoked the trust. */
    if (len < 0 || !c->trusted || recv(fd, bytes, (size_t)len, 0) != len)
        return refuse(c);
    client_leave(c);
    if (from.known) {
        client_set_address(c, &from.source.to.any);
        client_set_trust(c);
    }
    client_begin(c);
    return c->phase != CLIENT_CLOSED;
}
