/* A listening socket of loopback, and the server's end of a connection: what the
 * tests of client and server share. Nothing here sleeps: what waits, waits for
 * the other end. */
#ifndef BIDE_TEST_SOCKET_PAIR_H
#define BIDE_TEST_SOCKET_PAIR_H

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/address.h"
#include "net/loop.h"

/* Listens on any port, which is then in *ret. */
static inline int listen_anywhere(struct net_address *ret)
{
    net_address_parse(ret, "127.0.0.1", 0);
    int fd = net_listen(ret, 0);
    assert_true(fd >= 0);
    assert_int_equal(getsockname(fd, &ret->to.any, &ret->len), 0);
    return fd;
}

/* One turn of the loop, and a moment for the kernel where there was nothing. */
static inline void turn(struct net_loop *loop, int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    net_loop_poll(loop);
    poll(&p, 1, 1);
}

static inline int accept_one(struct net_loop *loop, int listener)
{
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) < 0)
        turn(loop, listener);
    return fd;
}

/* Reads until this text is there; all that came. */
static inline size_t read_until(struct net_loop *loop, int fd, const char *text,
                                char *to, size_t size)
{
    size_t len = 0;
    to[0] = '\0';
    while (!strstr(to, text)) {
        ssize_t n = recv(fd, to + len, size - len - 1, MSG_DONTWAIT);
        if (n == 0)
            break;
        if (n > 0)
            to[len += (size_t)n] = '\0';
        else
            turn(loop, fd);
    }
    return len;
}

static inline void say(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, text, len, MSG_NOSIGNAL);
        if (n < 0)
            return; /* it hung up: the test sees that elsewhere */
        text += n;
        len -= (size_t)n;
    }
}

#endif
