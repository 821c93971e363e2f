/* A client's address, and whether its overrides are obeyed. */
#include <netinet/in.h>
#include <string.h>

#include "config/proxy/conf.h"
#include "net/address.h"
#include "proxy/front/client.h"
#include "proxy/front/client_address.h"
#include "proxy/worker.h"

static bool is_trusted(const struct bide__proxy_conf *conf,
                       const struct client *c)
{
    for (size_t i = 0; i < conf->n_trusted; i++) {
        const struct bide__proxy_net *n = &conf->trusted[i];
        unsigned whole = n->bits / 8, part = n->bits % 8;
        if (n->len != c->address_len ||
            memcmp(n->bytes, c->address, whole) != 0)
            continue;
        if (part == 0 ||
            ((n->bytes[whole] ^ c->address[whole]) >> (8 - part)) == 0)
            return true;
    }
    return false;
}

void client_set_address(struct client *c, const struct sockaddr *from)
{
    struct net_address a;
    memset(&a, 0, sizeof a);
    a.to.any.sa_family = from->sa_family;
    if (from->sa_family == AF_INET)
        memcpy(&a.to.in, from, sizeof a.to.in);
    else if (from->sa_family == AF_INET6)
        memcpy(&a.to.in6, from, sizeof a.to.in6);
    memset(c->address, 0, sizeof c->address);
    c->address_len = (uint8_t)net_address_bytes(&a, c->address);
    c->port = from->sa_family == AF_INET    ? ntohs(a.to.in.sin_port)
              : from->sa_family == AF_INET6 ? ntohs(a.to.in6.sin6_port)
                                            : 0;
}

void client_address(const struct client *c, struct net_address *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->to.any.sa_family = c->address_len == 4    ? AF_INET
                            : c->address_len == 16 ? AF_INET6
                                                   : AF_UNIX;
    if (c->address_len == 4) {
        memcpy(&ret->to.in.sin_addr, c->address, 4);
        ret->to.in.sin_port = htons(c->port);
    } else if (c->address_len == 16) {
        memcpy(&ret->to.in6.sin6_addr, c->address, 16);
        ret->to.in6.sin6_port = htons(c->port);
    }
}

void client_set_trust(struct client *c)
{
    c->trusted = is_trusted(c->worker->conf, c);
}
