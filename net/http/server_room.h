/* net/http/server_room.h: who has to go when there is no room, for the files of
 * the server. */
#ifndef BIDE_NET_HTTP_SERVER_ROOM_H
#define BIDE_NET_HTTP_SERVER_ROOM_H

#include "net/http/server.h"

/* Whether one more may come; *ret, if it is not NULL, has to go for it. False:
 * all have only just come. */
bool http_server_has_room(const struct http_server *s, struct http_conn **ret);

/* Lets go of an answer that is not read, if there are too many. */
void http_server_bound_waiting(struct http_server *s);

/* Whether the client has not taken all of its answer so far. */
bool http_conn_is_behind(const struct http_conn *c);

#endif
