/* net/http2/fault.h: what the peer did wrong, or too often. */
#ifndef BIDE_NET_HTTP2_FAULT_H
#define BIDE_NET_HTTP2_FAULT_H

#include "net/http2/conn.h"

/* Resets a stream, released or not, because of what the peer did there: too many
 * of these fail the connection. */
void http2__stream_error(struct http2_conn *c, uint32_t id,
                         enum http2_code code, enum http2_why why);

/* A frame that carries nothing has come; one that is no surprise (`usual`) is
 * free of charge. False: one too many, the connection has failed. */
bool http2__control(struct http2_conn *c, bool usual);

/* The peer has reset a stream before it was answered: likewise. */
bool http2__reset_early(struct http2_conn *c);

#endif
