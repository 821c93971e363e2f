/* From a name to an address. */
#include "resolve.h"

#include <netdb.h>
#include <string.h>

int net_resolve(const char *host, uint16_t port, struct net_address *ret,
                const char **ret_why)
{
    struct addrinfo want = { .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_ADDRCONFIG };
    struct addrinfo *found = NULL;

    if (net_address_parse(ret, host, port) == 0)
        return 0;
    int rc = getaddrinfo(host, NULL, &want, &found);
    if (rc != 0) {
        *ret_why = gai_strerror(rc);
        return -1;
    }
    memset(ret, 0, sizeof *ret);
    memcpy(&ret->to, found->ai_addr, found->ai_addrlen);
    ret->len = found->ai_addrlen;
    if (ret->to.any.sa_family == AF_INET6)
        ret->to.in6.sin6_port = htons(port);
    else
        ret->to.in.sin_port = htons(port);
    freeaddrinfo(found);
    return 0;
}
