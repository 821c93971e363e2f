/* net/http/client_loop.h: a client that goes on in an event loop. */
#ifndef BIDE_NET_HTTP_CLIENT_LOOP_H
#define BIDE_NET_HTTP_CLIENT_LOOP_H

#include "net/http/client.h"

/* Begins a request in a loop, always the same. False: it failed at once. The
 * memory of an open client must outlive the round (net_loop_bury). */
bool http_client_start(struct http_client *c, struct net_loop *loop,
                       const struct http_request *r);

#endif
