/* net/http/server_answer.h: what is said to a client, all at once or as a
 * stream. */
#ifndef BIDE_NET_HTTP_SERVER_ANSWER_H
#define BIDE_NET_HTTP_SERVER_ANSWER_H

#include "net/http/server.h"

/* Writes the first line of an answer into c->out, where header lines follow. */
void http_answer_begin(struct http_conn *c, int status);

/* Adds the lines that frame the body, and the body, and sends it all. The
 * connection may be gone after. */
void http_answer_end(struct http_conn *c, const void *body, size_t len);

/* "Not Found" for 404. */
const char *http_status_text(int status);

/* Or: ends the head of an answer that goes on for as long as the client likes.
 * What is then put into c->out goes with it. */
void http_stream_begin(struct http_conn *c);

/* Whether the client has taken all so far. Then c->out is empty, for more; who
 * does not take it for as long as the server's patience is dropped. */
bool http_stream_next(struct http_conn *c);
void http_stream_send(struct http_conn *c);

#endif
