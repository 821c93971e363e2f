/* Connections to endpoints that learn the client's address by the PROXY
 * protocol.
 *
 * The header is the first thing that a connection carries, so a connection is
 * for one client for as long as it lives: opened for an attempt rather than for
 * the first in line, and kept for requests from the same address and port, that
 * is, from the same client connection. When the pool needs room, it closes the
 * least recently used connection of another client. */
#include <string.h>

#include "net/address.h"
#include "net/conn.h"
#include "net/proxy_protocol.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/link.h"
#include "proxy/back/pool.h"
#include "proxy/back/upstream.h"
#include "proxy/exchange/attempt.h"
#include "proxy/front/client.h"
#include "proxy/front/client_address.h"

static int version_of(const struct pool *p)
{
    return (int)p->endpoint->upstream->conf.proxy_protocol;
}

bool link_is_for(const struct link *l, const struct attempt *a)
{
    const struct client *c = a->ex->client;
    return l->client_port == c->port && l->client_len == c->address_len &&
           memcmp(l->client, c->address, sizeof l->client) == 0;
}

void link_bind(struct link *l, struct attempt *a)
{
    const struct client *c = a->ex->client;
    memcpy(l->client, c->address, sizeof l->client);
    l->client_len = c->address_len;
    l->client_port = c->port;
    l->attempt = a;
    a->making = l;
    if (a->phase == ATTEMPT_IN_LINE)
        attempt_move(a, ATTEMPT_CONNECTING);
}

/* It is small, and the socket is empty: it is sent in one piece, together with
 * what follows it. */
static bool send_header(int fd, const char *text, size_t len)
{
    return send(fd, text, len, MSG_NOSIGNAL | MSG_MORE) == (ssize_t)len;
}

bool link_introduce(struct link *l)
{
    struct client *c = l->attempt->ex->client;
    struct net_address source, target = { .len = sizeof target.to };
    char text[NET_PROXIED_TEXT];
    client_address(c, &source);
    getsockname(client_socket(c)->io.fd, &target.to.any, &target.len);
    size_t len = net_proxied_write(text, version_of(l->pool), &source, &target);
    return send_header(l->conn.io.fd, text, len);
}

bool proxied_health(int fd, const struct endpoint *e)
{
    char text[NET_PROXIED_TEXT];
    int version = (int)e->upstream->conf.proxy_protocol;
    return version == 0 ||
           send_header(fd, text, net_proxied_write(text, version, NULL, NULL));
}
