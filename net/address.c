/* Socket addresses, listening and connecting. */
#include "net/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int net_address_parse(struct net_address *ret, const char *host, uint16_t port)
{
    struct net_address a;
    memset(&a, 0, sizeof a);
    if (inet_pton(AF_INET, host, &a.to.in.sin_addr) == 1) {
        a.to.in.sin_family = AF_INET;
        a.to.in.sin_port = htons(port);
        a.len = sizeof a.to.in;
    } else if (inet_pton(AF_INET6, strcmp(host, "*") == 0 ? "::" : host,
                         &a.to.in6.sin6_addr) == 1) {
        a.to.in6.sin6_family = AF_INET6;
        a.to.in6.sin6_port = htons(port);
        a.len = sizeof a.to.in6;
    } else {
        return -1;
    }
    *ret = a;
    return 0;
}

int net_address_unix(struct net_address *ret, const char *path)
{
    size_t len = strlen(path);
    if (len >= sizeof ret->to.un.sun_path)
        return -1;
    memset(ret, 0, sizeof *ret);
    ret->to.un.sun_family = AF_UNIX;
    memcpy(ret->to.un.sun_path, path, len + 1);
    ret->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
    return 0;
}

const char *net_address_text(const struct net_address *a,
                             char text[NET_ADDRESS_TEXT])
{
    char host[INET6_ADDRSTRLEN] = "?";
    switch (a->to.any.sa_family) {
    case AF_INET:
        inet_ntop(AF_INET, &a->to.in.sin_addr, host, sizeof host);
        snprintf(text, NET_ADDRESS_TEXT, "%s:%u", host,
                 (unsigned)ntohs(a->to.in.sin_port));
        break;
    case AF_INET6:
        inet_ntop(AF_INET6, &a->to.in6.sin6_addr, host, sizeof host);
        snprintf(text, NET_ADDRESS_TEXT, "[%s]:%u", host,
                 (unsigned)ntohs(a->to.in6.sin6_port));
        break;
    default:
        snprintf(text, NET_ADDRESS_TEXT, "unix:%s", a->to.un.sun_path);
    }
    return text;
}

unsigned net_address_bytes(const struct net_address *a, uint8_t bytes[16])
{
    if (a->to.any.sa_family == AF_INET) {
        memcpy(bytes, &a->to.in.sin_addr, 4);
        return 4;
    }
    if (a->to.any.sa_family != AF_INET6)
        return 0;
    if (IN6_IS_ADDR_V4MAPPED(&a->to.in6.sin6_addr)) {
        memcpy(bytes, &a->to.in6.sin6_addr.s6_addr[12], 4);
        return 4;
    }
    memcpy(bytes, &a->to.in6.sin6_addr, 16);
    return 16;
}

static int fail(int fd)
{
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

/* A socket file at which nothing accepts connections was left by a process that
 * is gone, and is in the way. Any other kind of file belongs to someone,
 * although connect() fails in the same way for it. */
static void clear_path(const struct net_address *a)
{
    struct stat at;
    if (lstat(a->to.un.sun_path, &at) < 0 || !S_ISSOCK(at.st_mode))
        return;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, &a->to.any, a->len) < 0 && errno == ECONNREFUSED)
        unlink(a->to.un.sun_path);
    close(fd);
}

int net_listen(const struct net_address *a, int flags)
{
    int on = 1;
    int fd = socket(a->to.any.sa_family,
                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (a->to.any.sa_family == AF_UNIX)
        clear_path(a);
    else
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (flags & NET_REUSEPORT && a->to.any.sa_family != AF_UNIX &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0)
        return fail(fd);
    if (bind(fd, &a->to.any, a->len) < 0 || listen(fd, 4096) < 0)
        return fail(fd);
    /* The kernel has ensured that it is alone; from now on others may join. */
    if (flags & NET_ALONE && a->to.any.sa_family != AF_UNIX &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0)
        return fail(fd);
    return fd;
}

void net_nodelay(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int net_connect(const struct net_address *a)
{
    int fd = socket(a->to.any.sa_family,
                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    net_nodelay(fd);
    if (connect(fd, &a->to.any, a->len) < 0 && errno != EINPROGRESS)
        return fail(fd);
    return fd;
}

int net_connect_result(int fd)
{
    int err = 0;
    socklen_t len = sizeof err;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
        return errno;
    return err;
}
