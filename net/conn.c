/* Stream sockets; the rare half. */
#include "conn.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

void net_conn_shutdown(struct net_conn *c)
{
    if (c->session)
        c->layer->shutdown(c);
    shutdown(c->io.fd, SHUT_WR);
}

void net_conn_close(struct net_conn *c)
{
    if (c->io.fd < 0)
        return;
    if (c->session) {
        c->layer->shutdown(c);
        c->layer->free(c);
        c->session = NULL;
    }
    close(c->io.fd);
    c->io.fd = -1;
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

bool net_conn_stale(struct net_conn *c)
{
    char byte;
    if (!net_conn_quiet(c))
        return true;
    ssize_t n = recv(c->io.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n <= 0 || !c->session)
        return n >= 0 || errno != EAGAIN;
    c->readable = true; /* a word of TLS: its goodbye? */
    return !net_conn_quiet(c);
}
