/* From a name to its addresses. */
#include "net/resolve.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct net_address));
}

static struct net_addresses *addresses_new(unsigned n)
{
    struct net_addresses *all = calloc(1, sizeof *all + n * sizeof *all->list);
    if (all)
        all->n = n;
    return all;
}

static void set_port(struct net_address *to, uint16_t port)
{
    if (to->to.any.sa_family == AF_INET6)
        to->to.in6.sin6_port = htons(port);
    else
        to->to.in.sin_port = htons(port);
}

static void set(struct net_address *to, const struct addrinfo *from,
                uint16_t port)
{
    memcpy(&to->to, from->ai_addr, from->ai_addrlen);
    to->len = from->ai_addrlen;
    set_port(to, port);
}

static struct net_addresses *from_answer(const struct addrinfo *found,
                                         uint16_t port)
{
    const struct addrinfo *a;
    unsigned n = 0, i = 0;
    for (a = found; a && n < NET_ADDRESSES_MAX; a = a->ai_next)
        n++;
    struct net_addresses *all = addresses_new(n);
    for (a = found; all && i < n; a = a->ai_next)
        set(&all->list[i++], a, port);
    if (all)
        qsort(all->list, n, sizeof *all->list, by_bytes);
    return all;
}

bool net_is_address(const char *host)
{
    struct net_address a;
    return net_address_parse(&a, host, 0) == 0;
}

struct net_addresses *net_resolve(const char *host, uint16_t port,
                                  const char **ret_why)
{
    struct addrinfo want = { .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_ADDRCONFIG };
    struct addrinfo *found = NULL;
    struct net_addresses *all;

    *ret_why = "no memory";
    if (net_is_address(host)) {
        if ((all = addresses_new(1)))
            net_address_parse(&all->list[0], host, port);
        return all;
    }
    int rc = getaddrinfo(host, NULL, &want, &found);
    if (rc != 0) {
        *ret_why = gai_strerror(rc);
        return NULL;
    }
    all = from_answer(found, port);
    freeaddrinfo(found);
    return all;
}

struct net_addresses *net_addresses_at(const struct net_addresses *all,
                                       uint16_t port)
{
    struct net_addresses *copy = addresses_new(all->n);
    for (unsigned i = 0; copy && i < all->n; i++) {
        copy->list[i] = all->list[i];
        set_port(&copy->list[i], port);
    }
    return copy;
}

bool net_addresses_same(const struct net_addresses *a,
                        const struct net_addresses *b)
{
    return a->n == b->n &&
           memcmp(a->list, b->list, a->n * sizeof *a->list) == 0;
}

bool net_addresses_have(const struct net_addresses *all,
                        const struct net_address *a)
{
    uint8_t want[16], have[16];
    unsigned len = net_address_bytes(a, want);
    for (unsigned i = 0; i < all->n; i++)
        if (net_address_bytes(&all->list[i], have) == len &&
            memcmp(want, have, len) == 0)
            return true;
    return false;
}
