/* net/http2/put_known.h: a field whose name has been looked up. */
#ifndef BIDE_NET_HTTP2_PUT_KNOWN_H
#define BIDE_NET_HTTP2_PUT_KNOWN_H

#include "net/http2/conn.h"

/* `id` is the http1_id of the name, which may have capital letters. */
void http2__put_known(struct http2_stream *s, unsigned id, const char *name,
                      size_t name_len, const char *value, size_t value_len);

#endif
