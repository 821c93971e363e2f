/* net/http2/error.h: HTTP/2's error codes, and why a stream or a connection
 * was ended by us.
 *
 *     log_line("%s: %s", http2_code_name(HTTP2_REFUSED_STREAM),
 *              http2_why_text(HTTP2_WHY_RESETS));
 *
 * A code is what the peer is told (RFC 9113, 7). A why is more exact, and what
 * logs and metrics tell: its name never changes. */
#ifndef BIDE_NET_HTTP2_ERROR_H
#define BIDE_NET_HTTP2_ERROR_H

#include <stdint.h>

/* clang-format off */
#define HTTP2_CODES(X)                                                         \
    X(NO_ERROR, 0)                                                             \
    X(PROTOCOL_ERROR, 1)                                                       \
    X(INTERNAL_ERROR, 2)                                                       \
    X(FLOW_CONTROL_ERROR, 3)                                                   \
    X(SETTINGS_TIMEOUT, 4)                                                     \
    X(STREAM_CLOSED, 5)                                                        \
    X(FRAME_SIZE_ERROR, 6)                                                     \
    X(REFUSED_STREAM, 7)                                                       \
    X(CANCEL, 8)                                                               \
    X(COMPRESSION_ERROR, 9)                                                    \
    X(CONNECT_ERROR, 10)                                                       \
    X(ENHANCE_YOUR_CALM, 11)                                                   \
    X(INADEQUATE_SECURITY, 12)                                                 \
    X(HTTP_1_1_REQUIRED, 13)

/* X(why, name, text). The first group is about limits: each closes the
 * connection with ENHANCE_YOUR_CALM, but for the two that say otherwise. */
#define HTTP2_WHYS(X)                                                          \
    X(NONE, "none", "no error")                                                \
    X(STREAMS, "streams", "more streams at once than allowed")                 \
    X(CONTINUATIONS, "continuations", "too many CONTINUATION frames")          \
    X(RESETS, "resets", "too many streams reset before they were answered")    \
    X(ERRORS, "errors", "too many streams in error")                           \
    X(CONTROL, "control", "too many frames that carry nothing")                \
    X(UNSENT, "unsent", "too many answers to control frames wait to be read")  \
    X(SETTINGS_ACK, "settings_timeout", "SETTINGS were not acknowledged")      \
    X(LATE_PREFACE, "preface_timeout", "no preface, or no SETTINGS after it")  \
    X(LATE_HEAD, "head_timeout", "a head that did not end in time")            \
    X(MEMORY, "memory", "the connection holds too much, or there is no memory")\
    X(HEAD_SIZE, "head_size", "a head over limits.headers or header_bytes")    \
                                                                               \
    X(PREFACE, "preface", "the connection preface is not HTTP/2's")            \
    X(FRAME_SIZE, "frame_size", "a frame has a length that its type forbids")  \
    X(FRAME_STREAM, "frame_stream", "a frame on a stream it cannot be on")     \
    X(FRAME_STATE, "frame_state", "a frame that the stream's state forbids")   \
    X(CLOSED, "stream_closed", "a frame on a stream that is closed")           \
    X(STREAM_ID, "stream_id", "a stream's number is not above the last one's") \
    X(INTERLEAVED, "interleaved", "a frame in the middle of a head")           \
    X(PADDING, "padding", "more padding than the frame is long")               \
    X(SETTING, "setting", "a setting has a value that it cannot have")         \
    X(INCREMENT, "increment", "a WINDOW_UPDATE of 0")                          \
    X(WINDOW, "window", "a window of more than 2^31-1")                        \
    X(FLOW, "flow_control", "more data than the window allows")                \
    X(PUSH, "push", "PUSH_PROMISE, though push is off")                        \
    X(HPACK, "hpack", "a head that cannot be decompressed")                    \
                                                                               \
    X(NAME, "name", "a header name with a byte that it cannot have")           \
    X(VALUE, "value", "a header value with a byte that it cannot have")        \
    X(PSEUDO_NAME, "pseudo_name", "an unknown pseudo-header")                  \
    X(PSEUDO_TWICE, "pseudo_twice", "a pseudo-header that is given twice")     \
    X(PSEUDO_LATE, "pseudo_late", "a pseudo-header after a header")            \
    X(PSEUDO_MISSING, "pseudo_missing", "a pseudo-header is missing")          \
    X(METHOD, "method", ":method is not a token")                              \
    X(SCHEME, "scheme", ":scheme is not a scheme")                             \
    X(PATH, "path", ":path is not a path")                                     \
    X(AUTHORITY, "authority", ":authority or host is not an authority")        \
    X(HOST, "host", "host is not what :authority says")                        \
    X(STATUS, "status", ":status is not a status")                             \
    X(CONNECTION, "connection", "a header of HTTP/1.1's connections")          \
    X(TE, "te", "te is not trailers")                                          \
    X(LENGTH, "content_length", "content-length is not one plain number")      \
    X(LENGTH_LIES, "length_lies", "the body is not as long as content-length") \
    X(TRAILER, "trailer", "a field that must not be in a trailer")             \
    X(TRAILER_END, "trailer_end", "a second head that does not end the stream")
/* clang-format on */

enum http2_code {
#define X(name, value) HTTP2_##name = value,
    HTTP2_CODES(X)
#undef X
};

enum http2_why {
#define X(why, name, text) HTTP2_WHY_##why,
    HTTP2_WHYS(X)
#undef X
        HTTP2_WHYS_N
};

/* "REFUSED_STREAM"; "unknown" for a code that is in no list. */
const char *http2_code_name(uint32_t code);

/* "length_lies", for logs and metrics; a sentence for people. Never NULL. */
const char *http2_why_name(enum http2_why why);
const char *http2_why_text(enum http2_why why);

#endif
