/* proxy/front/client_http2.h: clients that speak HTTP/2: a connection, and a client
 * for each of its streams. */
#ifndef BIDE_PROXY_FRONT_CLIENT_HTTP2_H
#define BIDE_PROXY_FRONT_CLIENT_HTTP2_H

struct client;

/* The client speaks HTTP/2: what was read so far is its beginning. */
void client_begin_http2(struct client *c);

/* Takes no more streams, once it knows; closed when those there are have ended. It has a
 * moment to say that it knows: what it sends until then is served. */
void client_drain_http2(struct client *c);

/* It has had no stream for a while: likewise; the second time it is closed. */
void client_idle_http2(struct client *c);

#endif
