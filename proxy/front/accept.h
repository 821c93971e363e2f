/* proxy/front/accept.h: a worker's listeners, and what they do when there is no room
 * for another client. */
#ifndef BIDE_PROXY_FRONT_ACCEPT_H
#define BIDE_PROXY_FRONT_ACCEPT_H

#include <stdbool.h>

#include "net/loop.h"

struct listen_socket;
struct worker;

struct listener {
    struct net_io io; /* first: events refer to it */
    struct net_grave grave;
    struct listener *next;
    struct worker *worker;
    struct listen_socket *sock;
    bool paused; /* until descriptors are free again */
};

/* Listens on the proxy's current sockets, and on no others. False: there was
 * not enough memory for all. */
bool worker_listen(struct worker *w);
void worker_unlisten(struct worker *w);

/* Resumes what was paused; has that done after a while. */
void worker_resume(struct worker *w);
void worker_look_later(struct worker *w);

#endif
