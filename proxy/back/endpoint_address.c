/* The addresses of endpoints.
 *
 * One thread sets them, all workers connect to them. A lock guards the list, so
 * that no old list has to be kept for concurrent readers; it is taken per
 * connection, never per request. A request can read the number of changes for
 * free: a connection from before the last change is checked again. */
#include <pthread.h>
#include <stdlib.h>

#include "net/resolve.h"
#include "proxy/back/endpoint.h"

bool endpoint_move(struct endpoint *e, const struct net_addresses *to)
{
    struct net_addresses *found = net_addresses_at(to, e->port);
    struct net_addresses *gone = found;
    if (!found)
        return false;
    pthread_mutex_lock(&e->lock);
    if (!e->addresses || !net_addresses_same(e->addresses, found)) {
        gone = e->addresses;
        e->addresses = found;
        atomic_fetch_add(&e->moves, 1);
    }
    pthread_mutex_unlock(&e->lock);
    free(gone);
    return true;
}

bool endpoint_address(struct endpoint *e, unsigned turn,
                      struct net_address *ret)
{
    pthread_mutex_lock(&e->lock);
    bool known = e->addresses != NULL;
    if (known)
        *ret = e->addresses->list[turn % e->addresses->n];
    pthread_mutex_unlock(&e->lock);
    return known;
}

bool endpoint_is_at(struct endpoint *e, const struct net_address *a)
{
    pthread_mutex_lock(&e->lock);
    bool there = e->addresses && net_addresses_have(e->addresses, a);
    pthread_mutex_unlock(&e->lock);
    return there;
}
