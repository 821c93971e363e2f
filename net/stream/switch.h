/* net/stream/switch.h: requests for another protocol (WebSocket), between their two
 * forms: HTTP/1.1's, which is that of the text, and HTTP/2's (RFC 8441).
 *
 *   GET /chat HTTP/1.1                       :method CONNECT
 *   connection: upgrade                      :protocol websocket
 *   upgrade: websocket             <->       :scheme, :path, :authority
 *   sec-websocket-key: ...
 *
 *   HTTP/1.1 101 Switching Protocols         :status 200
 *   sec-websocket-accept: ...
 *
 * The key only guards against caches that do not know the protocol (RFC 6455, 1.3). An
 * endpoint that speaks HTTP/2 never sees it; who asked by HTTP/1.1 gets its answer from
 * here. */
#ifndef BIDE_NET_STREAM_SWITCH_H
#define BIDE_NET_STREAM_SWITCH_H

#include <stdbool.h>
#include <stddef.h>

#include "net/http1/head.h"
#include "net/http2/conn.h"

enum { SWITCH_ACCEPT = 28 };

/* What a client's stream has asked for. Threads: owned. */
struct stream_switch {
    char protocol[HTTP2_PROTOCOL + 1]; /* in small letters */
    char accept[SWITCH_ACCEPT + 1];    /* sec-websocket-accept; "": no key */
};

/* Reads what a request asks for: its .upgrade is set. False: more than one protocol,
 * or what no protocol is called. */
bool switch_read(struct stream_switch *ret, const struct http1_head *h,
                 const char *text);

/* The field that HTTP/2 has no use for, of a request or a response; NULL: there is
 * none. */
const struct http1_field *switch_key(const struct http1_head *h,
                                     const char *text);

#endif
