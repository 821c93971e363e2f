/* net/http/server_conn.h: one client, for the files of the server. */
#ifndef BIDE_NET_HTTP_SERVER_CONN_H
#define BIDE_NET_HTTP_SERVER_CONN_H

#include "net/http/server.h"

void http_conn_begin(struct http_conn *c);
void http_conn_drop(struct http_conn *c, bool reset);
void http_conn_ready(struct net_io *io, unsigned events);
void http_conn_again(struct net_task *task);

/* Does what can be done now; it may be gone after. */
void http_conn_serve(struct http_conn *c);

/* Writes; whether all has been taken. */
bool http_conn_write(struct http_conn *c);

/* Drops it after so long, unless told otherwise meanwhile. */
void http_conn_allow(struct http_conn *c, int64_t ns);

#endif
