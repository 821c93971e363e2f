/* proxy/back/link_http2.h: connections to endpoints that speak HTTP/2, which
 * attempts share: a stream for each.
 *
 *     if (!link_greet(l))                      // connected: waits for settings
 *         fail(l);
 *     ...
 *     if ((l = link_stream(pool, a)))          // a link, for this attempt
 *         attempt_linked(a, l);
 *
 * Threads: owned, by the worker. */
#ifndef BIDE_PROXY_BACK_LINK_HTTP2_H
#define BIDE_PROXY_BACK_LINK_HTTP2_H

#include <stdbool.h>

struct attempt;
struct link;
struct pool;

/* It is connected to an endpoint that is to speak HTTP/2: waits for its
 * settings, then it is link_connected(). False: no memory. */
bool link_greet(struct link *l);

/* Its timer, once it is shared. */
void link_shared_fire(struct link *l);

/* A stream for an attempt, as a link; NULL: none is free. */
struct link *link_stream(struct pool *pool, struct attempt *a);

/* Lets all that is shared end, and uses it no more. */
void link_drain_shared(struct pool *pool);

#endif
