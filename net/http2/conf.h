/* net/http2/conf.h: the limits of a connection, as `proxy.http2` has them.
 *
 *     struct http2_conf conf = HTTP2_CONF_INIT;
 *     conf.streams = 250;
 *
 * Whoever is on the other side, a connection costs no more than these allow.
 * Over a limit the connection is closed with ENHANCE_YOUR_CALM, except where a
 * comment says otherwise; http2_conn.counts has how often each was reached.
 *
 * Threads: immutable. */
#ifndef BIDE_NET_HTTP2_CONF_H
#define BIDE_NET_HTTP2_CONF_H

#include <stdbool.h>
#include <stdint.h>

struct http2_conf {
    uint32_t streams; /* at once, those counted that are cancelled and not yet
                         released; over it: REFUSED_STREAM; 1 .. 10000; 100 */
    uint32_t window;  /* bytes of a stream that may arrive and not be consumed;
                         over it: FLOW_CONTROL_ERROR; 16 KiB .. 1 MiB; 64 KiB */
    uint32_t connection_window; /* of all streams together; 64 KiB .. 16 MiB;
                         1 MiB */
    uint32_t headers;      /* fields of a head or of trailers; over it the owner
                         is told, and answers 431; 100 */
    uint32_t header_bytes; /* the same in bytes, as decoded; 16 KiB */
    uint32_t continuations; /* CONTINUATION frames of a head; 8 */
    uint32_t resets; /* of streams that are not answered, by the peer, in a burst;
                        1 .. 1e6; 1000 */
    uint32_t resets_per_s;   /* after that burst; 1 .. 1e6; 100 */
    uint32_t errors_per_min; /* streams that the peer makes us reset; 1 .. 1e6;
                         100 */
    uint32_t control; /* PING, SETTINGS, PRIORITY, empty DATA and WINDOW_UPDATE
                         that opens nothing, in a burst; 10 .. 1e6; 1000 ... */
    uint32_t control_per_s; /* ... and then; 1 .. 1e6; 200 */
    uint32_t unsent;        /* answers to them that are not sent yet; 1000 */
    int64_t settings_ns;   /* until our SETTINGS are acknowledged, and until the
                         preface has come; over it: SETTINGS_TIMEOUT; 10 s */
    int64_t head_ns; /* from a head's first frame to its end; 10 s */
    uint32_t memory_bytes; /* all that it holds: near it, the connection's
                         window stays closed and requests are refused; 8 MiB */
    bool connect_protocol; /* RFC 8441: a server allows it; true */
};

#define HTTP2_CONF_INIT                                                        \
    {                                                                          \
        .streams = 100, .window = 65536, .connection_window = 1048576,         \
        .headers = 100, .header_bytes = 16384, .continuations = 8,             \
        .resets = 1000, .resets_per_s = 100, .errors_per_min = 100,            \
        .control = 1000, .control_per_s = 200, .unsent = 1000,                 \
        .settings_ns = INT64_C(10000000000), .head_ns = INT64_C(10000000000),  \
        .memory_bytes = 8388608, .connect_protocol = true,                     \
    }

#endif
