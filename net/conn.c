/* Stream sockets; the rare half. */
#include "conn.h"

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

bool net_conn_stale(struct net_conn *c)
{
    char byte;
    if (c->readable || c->hup)
        return true;
    return !(recv(c->io.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
             errno == EAGAIN);
}
