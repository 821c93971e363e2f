/* proxy/front/client_http2.h: clients that speak HTTP/2: a connection, and a client
 * for each of its streams. */
#ifndef BIDE_PROXY_FRONT_CLIENT_HTTP2_H
#define BIDE_PROXY_FRONT_CLIENT_HTTP2_H

struct client;

/* The client speaks HTTP/2: what was read so far is its beginning. */
void client_begin_http2(struct client *c);

/* Takes no more streams; closed when those there are have ended. */
void client_drain_http2(struct client *c);

#endif
