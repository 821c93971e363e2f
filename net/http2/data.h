/* net/http2/data.h: DATA that arrives, and the windows that let it (RFC 9113,
 * 5.2 and 6.1). */
#ifndef BIDE_NET_HTTP2_DATA_H
#define BIDE_NET_HTTP2_DATA_H

#include "net/http2/frame.h"

/* A DATA frame begins. False: its stream does not want it, or the connection has
 * failed. */
bool http2__data_begin(struct http2_conn *c);

/* Its payload has `n` bytes, padding not counted. False, as above. */
bool http2__data_sized(struct http2_conn *c, uint32_t n);

/* Some of it, perhaps nothing but its end. */
void http2__data(struct http2_conn *c, const char *bytes, size_t n);

/* Gives the connection's window back, as far as memory allows. */
void http2__return_window(struct http2_conn *c);

#endif
