/* Opens the listening socket, if it is allowed to. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/address.h"
#include "net/address.h"
#include "observe/admin/admin.h"

static bool is_loopback(const struct net_address *a)
{
    return a->to.any.sa_family == AF_INET
               ? ntohl(a->to.in.sin_addr.s_addr) >> 24 == 127
               : IN6_IS_ADDR_LOOPBACK(&a->to.in6.sin6_addr);
}

/* "127.0.0.1:9901" or "[::1]:9901". */
static bool read_address(struct net_address *ret, const char *text)
{
    struct bide__authority at;
    uint16_t port;
    char host[128];

    if (!bide__authority(text, strlen(text), &at) || !at.colon ||
        !bide__port(at.port, at.port_len, &port) || at.host_len == 0 ||
        at.host_len >= sizeof host)
        return false;
    memcpy(host, at.host, at.host_len);
    host[at.host_len] = '\0';
    return net_address_parse(ret,
                             strcmp(host, "localhost") == 0 ? "127.0.0.1"
                             : strcmp(host, "*") == 0       ? "0.0.0.0"
                                                            : host,
                             port) == 0;
}

/* -1 and errno on failure. "unix:/run/bide.sock" is for this user only. */
static int open_socket(const struct net_address *a)
{
    if (a->to.any.sa_family != AF_UNIX)
        return net_listen(a, 0);
    mode_t mask = umask(0177);
    int fd = net_listen(a, 0);
    umask(mask);
    return fd;
}

static bool may_be_reached(const struct bide__admin_conf *conf, char *why,
                           size_t size)
{
    const char *missing = conf->token         ? "no certificate"
                          : conf->certificate ? "no token"
                                              : "no token and no certificate";

    if (conf->insecure || (conf->token && conf->certificate))
        return true;
    snprintf(why, size,
             "admin: %s can be reached by others, and admin_access has %s. "
             "Expected both; or a loopback address; or `insecure: true`, where "
             "nobody else is on that network",
             conf->listen, missing);
    return false;
}

int bide__admin_listen(const struct bide__admin_conf *conf, char *why,
                       size_t size)
{
    bool is_path = strncmp(conf->listen, "unix:", 5) == 0;
    struct net_address a;
    int fd = conf->listener ? conf->listener : -1;

    if (!is_path && !read_address(&a, conf->listen)) {
        snprintf(why, size,
                 "admin: found `%s`, expected an address and a port, as "
                 "127.0.0.1:9901 or [::1]:9901",
                 conf->listen);
        return -1;
    }
    if (!is_path && !is_loopback(&a) && !may_be_reached(conf, why, size))
        return -1;
    errno = ENAMETOOLONG;
    if (fd < 0 && (!is_path || net_address_unix(&a, conf->listen + 5) == 0))
        fd = open_socket(&a);
    if (fd < 0)
        snprintf(why, size, "admin: cannot listen on %s: %s", conf->listen,
                 strerror(errno));
    return fd;
}
