/* Where it listens, and whether it may. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/address.h"
#include "net/address.h"
#include "observe/admin/admin_parts.h"

static bool is_loopback(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)sa;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *in6 = (const void *)sa;
    return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

/* "127.0.0.1:9901" or "[::1]:9901" into two strings. */
static bool split(const char *text, char *host, size_t size, const char **port)
{
    struct bide__authority at;
    uint16_t number;
    if (!bide__authority(text, strlen(text), &at) || !at.colon ||
        !bide__port(at.port, at.port_len, &number) || at.host_len == 0 ||
        at.host_len >= size)
        return false;
    memcpy(host, at.host, at.host_len);
    host[at.host_len] = '\0';
    *port = at.port;
    return true;
}

static struct addrinfo *resolve(const char *text, char *why, size_t size)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_PASSIVE | AI_NUMERICHOST |
                                          AI_NUMERICSERV };
    struct addrinfo *list;
    const char *port;
    char host[128];

    if (split(text, host, sizeof host, &port)) {
        if (strcmp(host, "localhost") == 0)
            strcpy(host, "127.0.0.1");
        if (strcmp(host, "*") == 0)
            strcpy(host, "0.0.0.0");
        if (getaddrinfo(host, port, &hints, &list) == 0)
            return list;
    }
    snprintf(why, size,
             "admin: found `%s`, expected an address and a port, as "
             "127.0.0.1:9901 or [::1]:9901",
             text);
    return NULL;
}

static int bind_to(const struct addrinfo *ai, const char *text, char *why,
                   size_t size)
{
    int one = 1;
    int fd =
        socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
        bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && listen(fd, ADMIN_BACKLOG) == 0)
        return fd;
    snprintf(why, size, "admin: cannot listen on %s: %s", text,
             strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int port_of(int fd)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof sa;
    if (getsockname(fd, (struct sockaddr *)&sa, &len) != 0)
        return 0;
    return ntohs(sa.ss_family == AF_INET
                     ? ((const struct sockaddr_in *)&sa)->sin_port
                     : ((const struct sockaddr_in6 *)&sa)->sin6_port);
}

/* "unix:/run/bide.sock": for this user alone. */
static int listen_unix(const char *path, char *why, size_t size)
{
    struct net_address a;
    int fd = -1;

    errno = ENAMETOOLONG;
    if (net_address_unix(&a, path) == 0) {
        mode_t mask = umask(0177);
        fd = net_listen(&a, 0);
        umask(mask);
    }
    if (fd < 0)
        snprintf(why, size, "admin: cannot listen on unix:%s: %s", path,
                 strerror(errno));
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

int admin_listen(const struct bide__admin_conf *conf, int *ret_port, char *why,
                 size_t size)
{
    if (strncmp(conf->listen, "unix:", 5) == 0)
        return conf->listener ? conf->listener
                              : listen_unix(conf->listen + 5, why, size);
    struct addrinfo *ai = resolve(conf->listen, why, size);
    int fd = -1;

    if (!ai)
        return -1;
    if (is_loopback(ai->ai_addr) || may_be_reached(conf, why, size))
        fd = conf->listener ? conf->listener
                            : bind_to(ai, conf->listen, why, size);
    freeaddrinfo(ai);
    if (fd >= 0)
        *ret_port = port_of(fd);
    return fd;
}
