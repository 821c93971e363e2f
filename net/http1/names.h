/* net/http1/names.h: the header names that the parser knows, in one table.
 *
 * Code that acts on a field adds its name here, and then tests its id instead
 * of comparing text. A name's slot is its hash (names.c); if two collide, or
 * a slot is wrong, test_http1_names says so and prints the right number.
 *
 * At most 61 names: http1_head.seen has a bit for each. */
#ifndef BIDE_NET_HTTP1_NAMES_H
#define BIDE_NET_HTTP1_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum {
    HTTP1_HOP = 1,       /* hop-by-hop: never forwarded as it is */
    HTTP1_FRAMES = 2,    /* the parser itself acts on it */
    HTTP1_HEAD_ONLY = 4, /* refused in a trailer */
};

/* clang-format off */
/* X(id, name, slot, flags) */
#define HTTP1_NAMES(X)                                                         \
    X(HOST, "host", 219, HTTP1_FRAMES | HTTP1_HEAD_ONLY)                       \
    X(CONNECTION, "connection", 9, HTTP1_HOP | HTTP1_FRAMES | HTTP1_HEAD_ONLY) \
    X(KEEP_ALIVE, "keep-alive", 118, HTTP1_HOP | HTTP1_HEAD_ONLY)              \
    X(PROXY, "proxy", 165, HTTP1_HEAD_ONLY)                                    \
    X(PROXY_CONNECTION, "proxy-connection", 156, HTTP1_HOP | HTTP1_HEAD_ONLY)  \
    X(TE, "te", 204, HTTP1_HOP | HTTP1_HEAD_ONLY)                              \
    X(TRAILER, "trailer", 26, HTTP1_HOP | HTTP1_HEAD_ONLY)                     \
    X(TRANSFER_ENCODING, "transfer-encoding", 213,                             \
      HTTP1_HOP | HTTP1_FRAMES | HTTP1_HEAD_ONLY)                              \
    X(UPGRADE, "upgrade", 232, HTTP1_HOP | HTTP1_HEAD_ONLY)                    \
    X(HTTP2_SETTINGS, "http2-settings", 190, HTTP1_HOP | HTTP1_HEAD_ONLY)      \
    X(CONTENT_LENGTH, "content-length", 65, HTTP1_FRAMES | HTTP1_HEAD_ONLY)    \
    X(CONTENT_TYPE, "content-type", 59, HTTP1_HEAD_ONLY)                       \
    X(CONTENT_ENCODING, "content-encoding", 98, HTTP1_HEAD_ONLY)               \
    X(CONTENT_RANGE, "content-range", 60, HTTP1_HEAD_ONLY)                     \
    X(RANGE, "range", 196, HTTP1_HEAD_ONLY)                                    \
    X(EXPECT, "expect", 177, HTTP1_FRAMES | HTTP1_HEAD_ONLY)                   \
    X(MAX_FORWARDS, "max-forwards", 251, HTTP1_HEAD_ONLY)                      \
    X(AUTHORIZATION, "authorization", 254, HTTP1_HEAD_ONLY)                    \
    X(PROXY_AUTHORIZATION, "proxy-authorization", 153, HTTP1_HEAD_ONLY)        \
    X(PROXY_AUTHENTICATE, "proxy-authenticate", 183, HTTP1_HEAD_ONLY)          \
    X(WWW_AUTHENTICATE, "www-authenticate", 248, HTTP1_HEAD_ONLY)              \
    X(COOKIE, "cookie", 44, HTTP1_HEAD_ONLY)                                   \
    X(SET_COOKIE, "set-cookie", 212, HTTP1_HEAD_ONLY)                          \
    X(CACHE_CONTROL, "cache-control", 218, HTTP1_HEAD_ONLY)                    \
    X(LOCATION, "location", 114, HTTP1_HEAD_ONLY)                              \
    X(VIA, "via", 129, 0)                                                      \
    X(SERVER, "server", 28, 0)                                                 \
    X(USER_AGENT, "user-agent", 81, 0)                                         \
    X(ACCEPT, "accept", 137, 0)                                                \
    X(ACCEPT_ENCODING, "accept-encoding", 77, 0)                               \
    X(FORWARDED, "forwarded", 42, HTTP1_HEAD_ONLY)                             \
    X(X_FORWARDED_CLIENT_CERT, "x-forwarded-client-cert", 72, HTTP1_HEAD_ONLY) \
    X(X_FORWARDED_FOR, "x-forwarded-for", 83, HTTP1_HEAD_ONLY)                 \
    X(X_FORWARDED_HOST, "x-forwarded-host", 120, HTTP1_HEAD_ONLY)              \
    X(X_FORWARDED_PROTO, "x-forwarded-proto", 252, HTTP1_HEAD_ONLY)            \
    X(X_REAL_IP, "x-real-ip", 10, HTTP1_HEAD_ONLY)                             \
    X(X_REQUEST_ID, "x-request-id", 229, 0)                                    \
    X(TRACEPARENT, "traceparent", 87, 0)                                       \
    X(TRACESTATE, "tracestate", 226, 0)                                        \
    X(BAGGAGE, "baggage", 31, HTTP1_HEAD_ONLY)                                 \
    X(IDEMPOTENCY_KEY, "idempotency-key", 95, HTTP1_HEAD_ONLY)                 \
    X(RETRY_AFTER, "retry-after", 206, HTTP1_HEAD_ONLY)                        \
    X(RETRY_AFTER_MS, "retry-after-ms", 35, HTTP1_HEAD_ONLY)                   \
    X(X_MS_RETRY_AFTER_MS, "x-ms-retry-after-ms", 119, HTTP1_HEAD_ONLY)        \
    X(RATELIMIT_RESET, "ratelimit-reset", 64, 0)                               \
    X(X_RATELIMIT_RESET, "x-ratelimit-reset", 130, 0)                          \
    X(GRPC_STATUS, "grpc-status", 191, 0)                                      \
    X(GRPC_TIMEOUT, "grpc-timeout", 207, HTTP1_HEAD_ONLY)                      \
    X(GRPC_PREVIOUS_RPC_ATTEMPTS, "grpc-previous-rpc-attempts", 136,           \
      HTTP1_HEAD_ONLY)                                                         \
    X(GRPC_RETRY_PUSHBACK_MS, "grpc-retry-pushback-ms", 199, 0)                \
    X(X_BIDE_ATTEMPT, "x-bide-attempt", 115, HTTP1_HEAD_ONLY)                  \
    X(X_BIDE_ATTEMPTS, "x-bide-attempts", 91, HTTP1_HEAD_ONLY)                 \
    X(X_BIDE_TIMEOUT_MS, "x-bide-timeout-ms", 101, HTTP1_HEAD_ONLY)            \
    X(X_BIDE_RETRY, "x-bide-retry", 186, HTTP1_HEAD_ONLY)                      \
    X(X_BIDE_REASON, "x-bide-reason", 168, HTTP1_HEAD_ONLY)                    \
    X(X_BIDE_ATTEMPTS_MAX, "x-bide-attempts-max", 239, HTTP1_HEAD_ONLY)        \
    X(X_BIDE_IDEMPOTENT, "x-bide-idempotent", 121, HTTP1_HEAD_ONLY)            \
    X(X_BIDE_FALLBACK, "x-bide-fallback", 152, HTTP1_HEAD_ONLY)                \
    X(X_BIDE_FAULT, "x-bide-fault", 61, HTTP1_HEAD_ONLY)
/* clang-format on */

enum http1_id {
    HTTP1_ID_OTHER = 0,      /* any name that is not in the list ... */
    HTTP1_ID_UNDERSCORE = 1, /* ... or has an underscore. CGI maps
                                X_Forwarded_For and X-Forwarded-For to the same
                                variable: one can impersonate the other */
    HTTP1_ID_X_FORWARDED = 2, /* ... or begins with "x-forwarded-": no list has
                                 all that servers trust */
#define X(id, name, slot, flags) HTTP1_ID_##id,
    HTTP1_NAMES(X)
#undef X
        HTTP1_IDS
};

/* "content-length" for HTTP1_ID_CONTENT_LENGTH; "" for those not in the
 * list. */
const char *http1_name(enum http1_id id);

/* The id of a name, in any case of letters. */
enum http1_id http1_name_id(const char *name, size_t len);

/* ===== for the parser ===== */

/* The id of a name that is not empty and has no underscore. */
enum http1_id http1__known_id(const char *name, size_t len);

/* HTTP1_HOP and the like, by id; the slot of a name in the table. */
extern const uint8_t http1__flags[HTTP1_IDS];
unsigned http1__slot(const char *name, size_t len);

#endif
