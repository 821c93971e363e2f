/* net/http1/framing.h: where a message ends, and whether the connection
 * persists. */
#ifndef BIDE_NET_HTTP1_FRAMING_H
#define BIDE_NET_HTTP1_FRAMING_H

#include "net/http1/head.h"

/* Applies one field to the message; called once for each whose flags have
 * HTTP1_FRAMES, before h->seen has its bit. 0 or an error. */
int http1__mean(struct http1_head *h, const char *buf,
                const struct http1_field *f);

/* Applies all fields together: framing, and whether the connection persists. */
int http1__finish(struct http1_head *h, const char *buf);

/* Connection, in two steps: one field's options, 0 or an error; and, when all
 * fields are known, marking those that it names. */
int http1__connection(struct http1_head *h, const char *buf,
                      const struct http1_field *f);
void http1__nominated(struct http1_head *h, const char *buf);

#endif
