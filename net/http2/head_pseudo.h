/* net/http2/head_pseudo.h: pseudo-headers, and the first line that they
 * become. */
#ifndef BIDE_NET_HTTP2_HEAD_PSEUDO_H
#define BIDE_NET_HTTP2_HEAD_PSEUDO_H

#include "net/http2/head.h"

/* Takes a field whose name begins with a colon. */
void http2__pseudo(struct http2_partial *p, const char *name, size_t name_len,
                   const char *value, size_t value_len);

/* All have come: checks them, and writes the first line and `host`. */
void http2__first_line(struct http2_partial *p);

#endif
