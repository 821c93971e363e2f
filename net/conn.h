/* net/conn.h: a stream socket in a loop, with or without TLS.
 *
 *     ssize_t n = net_read(conn, buf, size);
 *     if (n == NET_AGAIN)
 *         return;                        // ready() will be called
 *     if (n == 0 || n == NET_ERROR)
 *         hang_up(conn);
 *
 * Edge-triggered means that the kernel notifies once. The flags remember the
 * notification, and are cleared by the call that finds nothing more to do. A
 * read that fills less than it could has emptied the socket, and saves the
 * second call that would only say so; unless the peer has closed, which only a
 * further read shows.
 *
 * TLS is a table of functions behind one pointer, so that a program without
 * certificates never loads a library for it. A stream of HTTP/2 is another such
 * table (net/stream/stream.h): it has no descriptor, and whatever serves a
 * request over a connection serves it over a stream. Threads: owned. */
#ifndef BIDE_NET_CONN_H
#define BIDE_NET_CONN_H

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net/loop.h"

struct net_conn;

/* What a layer above TCP does differently. Each may need to read in order to
 * write, and to write in order to read: after any event everything that waits
 * is tried again. */
struct net_layer {
    ssize_t (*read)(struct net_conn *conn, void *buf, size_t n);
    ssize_t (*writev)(struct net_conn *conn, const struct iovec *iov, int n);
    /* 1: done; NET_AGAIN; NET_ERROR, and why in *ret_why, a constant. */
    int (*handshake)(struct net_conn *conn, const char **ret_why);
    bool (*pending)(struct net_conn *conn);  /* bytes that epoll cannot see */
    void (*shutdown)(struct net_conn *conn); /* sends close_notify, if it can */
    void (*free)(struct net_conn *conn);
};

struct net_conn {
    struct net_io io;
    void *session; /* the layer's; NULL: plain TCP */
    const struct net_layer *layer;
    bool readable, writable;
    bool hup;    /* the peer has closed, or it broke: read to the end */
    bool broken; /* in both directions */
};

enum { NET_AGAIN = -1, NET_ERROR = -2 };

/* Records what epoll reported. */
static inline void net_conn_note(struct net_conn *c, unsigned events)
{
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        c->readable = true;
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        c->writable = true;
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        c->hup = true;
    if (events & (EPOLLHUP | EPOLLERR))
        c->broken = true;
    if (c->session) /* either may have waited for the other */
        c->readable = c->writable = true;
}

/* Bytes read (over 0), 0 at the end, NET_AGAIN, or NET_ERROR with errno. */
static inline ssize_t net_read(struct net_conn *c, void *buf, size_t n)
{
    ssize_t got;
    if (c->session)
        return c->layer->read(c, buf, n);
    do
        got = recv(c->io.fd, buf, n, 0);
    while (got < 0 && errno == EINTR);
    if (got >= 0) {
        if ((size_t)got < n && !c->hup)
            c->readable = false;
        return got;
    }
    c->readable = false;
    return errno == EAGAIN ? NET_AGAIN : NET_ERROR;
}

/* Bytes written, at least 1, NET_AGAIN, or NET_ERROR with errno. */
static inline ssize_t net_writev(struct net_conn *c, struct iovec *iov, int n)
{
    ssize_t put;
    if (c->session)
        return c->layer->writev(c, iov, n);
    struct msghdr m = { .msg_iov = iov, .msg_iovlen = (size_t)n };
    do /* one piece is what mostly is sent, and cheaper without a list */
        put = n == 1 ? send(c->io.fd, iov->iov_base, iov->iov_len, MSG_NOSIGNAL)
                     : sendmsg(c->io.fd, &m, MSG_NOSIGNAL);
    while (put < 0 && errno == EINTR);
    if (put > 0)
        return put;
    c->writable = false;
    return put == 0 || errno == EAGAIN ? NET_AGAIN : NET_ERROR;
}

static inline ssize_t net_write(struct net_conn *c, const void *buf, size_t n)
{
    union {
        const void *in;
        void *out;
    } same = { buf }; /* sendmsg() does not write to it */
    return net_writev(c, &(struct iovec){ same.out, n }, 1);
}

/* Whether it is worth trying to read now. */
static inline bool net_can_read(const struct net_conn *c)
{
    return c->readable;
}

/* Bytes that were written and have not reached the peer. */
size_t net_conn_unsent(const struct net_conn *c);

/* Whether the kernel already knows that what was written will not be read. */
bool net_conn_failed(const struct net_conn *c);

/* Says that nothing more will be written; the other direction stays open. */
void net_conn_shutdown(struct net_conn *c);

/* Closes it; io.fd is then -1. Closing twice does nothing. */
void net_conn_close(struct net_conn *c);

/* The same without an orderly close: the peer sees that it broke off. TLS sends
 * no close_notify; `reset` also discards unsent data, and sends a reset. */
void net_conn_break(struct net_conn *c, bool reset);

/* Whether nothing unexpected has arrived, as far as is known. TLS has messages
 * of its own (session tickets), which do not count. */
bool net_conn_quiet(struct net_conn *c);

/* Whether something arrived unexpectedly, or the peer closed: one system call,
 * to be made before an idle connection carries a request that must not be sent
 * twice. */
bool net_conn_stale(struct net_conn *c);

#endif
