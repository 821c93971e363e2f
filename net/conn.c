/* The slow paths of connections: closing, resetting, and asking the kernel how
 * much is unsent. */
#include "net/conn.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

void net_conn_shutdown(struct net_conn *c)
{
    if (c->session)
        c->layer->shutdown(c);
    if (c->io.fd >= 0)
        shutdown(c->io.fd, SHUT_WR);
}

static void let_go(struct net_conn *c)
{
    if (c->session)
        c->layer->free(c);
    c->session = NULL;
    if (c->io.fd >= 0)
        net_io_close(&c->io);
}

static bool is_closed(const struct net_conn *c)
{
    return c->io.fd < 0 && !c->session;
}

void net_conn_close(struct net_conn *c)
{
    if (is_closed(c))
        return;
    if (c->session)
        c->layer->shutdown(c);
    let_go(c);
}

void net_conn_break(struct net_conn *c, bool reset)
{
    const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
    if (is_closed(c))
        return;
    if (reset && c->io.fd >= 0)
        setsockopt(c->io.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    let_go(c);
}

size_t net_conn_unsent(const struct net_conn *c)
{
    int n = 0;
    return ioctl(c->io.fd, SIOCOUTQ, &n) == 0 && n > 0 ? (size_t)n : 0;
}

bool net_conn_quiet(struct net_conn *c)
{
    char byte;
    if (c->hup || (c->readable && !c->session))
        return false;
    return !c->readable || net_read(c, &byte, 1) == NET_AGAIN;
}

bool net_conn_failed(const struct net_conn *c)
{
    int error = 0;
    socklen_t len = sizeof error;
    return getsockopt(c->io.fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 ||
           error != 0;
}

bool net_conn_stale(struct net_conn *c)
{
    char byte;
    if (!net_conn_quiet(c))
        return true;
    ssize_t n = recv(c->io.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n <= 0 || !c->session)
        return n >= 0 || errno != EAGAIN;
    c->readable = true; /* a TLS record: close_notify? */
    return !net_conn_quiet(c);
}
