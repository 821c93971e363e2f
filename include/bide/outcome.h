/* bide/outcome.h: the outcome of one attempt, and what the server said about
 * retrying it.
 *
 *     bide_response r = { .status = 503, .headers = h, .n_headers = n,
 *                         .wall_s = time(NULL), .method = "GET" };
 *     bide_outcome out = bide_classify(dep, &r);
 *     bide_call_report(&call, d.attempt, &out, now);
 *
 * or, without HTTP:
 *
 *     bide_outcome out = rc == 0 ? BIDE_OUTCOME_SUCCESS
 *                                : bide_outcome_errno(errno, false);
 *
 * Everything read here may come from a hostile server: input is bounded,
 * nothing is trusted, and malformed input counts as absent. */
#ifndef BIDE_OUTCOME_H
#define BIDE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "version.h"

BIDE_BEGIN_DECLS

typedef struct bide_dep bide_dep;

/* X(name, key, meaning) */
#define BIDE_CLASSES(X)                                                        \
    X(BIDE_SUCCESS, "success", "done")                                         \
    X(BIDE_TRANSIENT, "transient", "may well work a moment later")             \
    X(BIDE_THROTTLED, "throttled", "asked too often; slower may work")         \
    X(BIDE_OVERLOADED, "overloaded", "too much to do, and said: no retry")     \
    X(BIDE_PERMANENT, "permanent", "the same again will fail the same way")    \
    X(BIDE_IGNORED, "ignored", "says nothing about the dependency")

typedef enum bide_class {
#define BIDE__X(name, key, meaning) name,
    BIDE_CLASSES(BIDE__X)
#undef BIDE__X
    BIDE_N_CLASSES
} bide_class;

/* How an attempt failed without a complete response.
 * X(name, key, default class) */
#define BIDE_FAULTS(X)                                                         \
    X(BIDE_FAULT_NONE, "none", BIDE_SUCCESS)                                   \
    X(BIDE_FAULT_DNS, "dns", BIDE_TRANSIENT)           /* temporary */           \
    X(BIDE_FAULT_NO_HOST, "no_host", BIDE_PERMANENT)   /* no such name */      \
    X(BIDE_FAULT_CONNECT, "connect", BIDE_TRANSIENT)   /* refused, no route */ \
    X(BIDE_FAULT_RESET, "reset", BIDE_TRANSIENT)       /* broke off */         \
    X(BIDE_FAULT_TIMEOUT, "timeout", BIDE_TRANSIENT)                           \
    X(BIDE_FAULT_TLS, "tls", BIDE_PERMANENT)           /* certificate */       \
    X(BIDE_FAULT_URL, "url", BIDE_PERMANENT)                                   \
    X(BIDE_FAULT_MALFORMED, "malformed", BIDE_PERMANENT) /* not a response */   \
    X(BIDE_FAULT_LOCAL, "local", BIDE_TRANSIENT) /* out of sockets, memory */  \
    X(BIDE_FAULT_CANCELLED, "cancelled", BIDE_IGNORED) /* by the caller */     \
    X(BIDE_FAULT_UPLOAD, "upload", BIDE_IGNORED) /* the client's body */       \
    X(BIDE_FAULT_CONNECTION_WAIT, "connection_wait", BIDE_IGNORED)             \
    /* no connection became free */                                             \
    X(BIDE_FAULT_TOO_LONG, "too_long", BIDE_PERMANENT) /* over local limits */ \
    X(BIDE_FAULT_OTHER, "other", BIDE_PERMANENT)                               \
    X(BIDE_FAULT_REFUSED_STREAM, "refused_stream", BIDE_TRANSIENT)             \
    /* HTTP/2: the server says, or the protocol proves, that it was not begun */

typedef enum bide_fault {
#define BIDE__X(name, key, cls) name,
    BIDE_FAULTS(BIDE__X)
#undef BIDE__X
    BIDE_N_FAULTS
} bide_fault;

/* The status codes of gRPC, with its own numbers. X(name, value, key) */
#define BIDE_GRPC_CODES(X)                                                     \
    X(BIDE_GRPC_OK, 0, "OK")                                                   \
    X(BIDE_GRPC_CANCELLED, 1, "CANCELLED")                                     \
    X(BIDE_GRPC_UNKNOWN, 2, "UNKNOWN")                                         \
    X(BIDE_GRPC_INVALID_ARGUMENT, 3, "INVALID_ARGUMENT")                       \
    X(BIDE_GRPC_DEADLINE_EXCEEDED, 4, "DEADLINE_EXCEEDED")                     \
    X(BIDE_GRPC_NOT_FOUND, 5, "NOT_FOUND")                                     \
    X(BIDE_GRPC_ALREADY_EXISTS, 6, "ALREADY_EXISTS")                           \
    X(BIDE_GRPC_PERMISSION_DENIED, 7, "PERMISSION_DENIED")                     \
    X(BIDE_GRPC_RESOURCE_EXHAUSTED, 8, "RESOURCE_EXHAUSTED")                   \
    X(BIDE_GRPC_FAILED_PRECONDITION, 9, "FAILED_PRECONDITION")                 \
    X(BIDE_GRPC_ABORTED, 10, "ABORTED")                                        \
    X(BIDE_GRPC_OUT_OF_RANGE, 11, "OUT_OF_RANGE")                              \
    X(BIDE_GRPC_UNIMPLEMENTED, 12, "UNIMPLEMENTED")                            \
    X(BIDE_GRPC_INTERNAL, 13, "INTERNAL")                                      \
    X(BIDE_GRPC_UNAVAILABLE, 14, "UNAVAILABLE")                                \
    X(BIDE_GRPC_DATA_LOSS, 15, "DATA_LOSS")                                    \
    X(BIDE_GRPC_UNAUTHENTICATED, 16, "UNAUTHENTICATED")

typedef enum bide_grpc {
#define BIDE__X(name, value, key) name = value,
    BIDE_GRPC_CODES(BIDE__X)
#undef BIDE__X
    BIDE_N_GRPC
} bide_grpc;

/* The outcome of one attempt, classified. All zero but `cls` is safe to report:
 * the request may have been processed, and there was no hint. Threads:
 * owned. */
typedef struct bide_outcome {
    bide_class cls;
    bide_fault fault;   /* how the transport failed; NONE if it responded */
    int status;         /* HTTP status; 0 if there was none */
    bool not_processed; /* the request certainly had no effect */
    bool refused;       /* the server said: do not retry */
    bool hinted;        /* the server said when to retry, ... */
    int64_t hint_ns;    /* ... after this time; 0: it leaves that to us */
    bool refused_below; /* a bide in between refused the request: this says nothing
                           about the server */
    bool elsewhere;     /* nobody was reached, but the next attempt would go to
                           another server, which may be there */
    bool conflict;      /* someone else was faster (an optimistic lock, a deadlock
                           victim): trying again may work at once */
    bool hint_exact;    /* hint_ns is the wait itself, without jitter, 0 too
                           (gRPC's pushback) */
    uint8_t _room[4];
} bide_outcome;

#ifdef __cplusplus
#define BIDE_OUTCOME_SUCCESS (bide_outcome())
#else
#define BIDE_OUTCOME_SUCCESS ((bide_outcome){ .cls = BIDE_SUCCESS })
#endif

/* One header field. Neither string needs to end in NUL. */
typedef struct bide_header {
    const char *name;
    size_t name_len;
    const char *value;
    size_t value_len;
} bide_header;

/* A response as the transport saw it. Zero is "unknown" for every field.
 * Nothing is kept after the call that it is passed to. Threads: owned. */
typedef struct bide_response {
    int status;          /* HTTP status; 0 if no status line arrived */
    bide_fault fault;    /* how it broke off; NONE if it is complete */
    bool not_sent;       /* no byte of the request can have been acted upon */
    bool is_grpc;        /* grpc_status counts, the HTTP status does not */
    int grpc_status;     /* a bide_grpc */
    const char *method;  /* of the request, for rules that test it; or NULL */
    const bide_header *headers; /* with trailers, in the order received */
    size_t n_headers;
    const void *body;    /* its beginning; read only for problem details */
    size_t body_len;
    int64_t wall_s;      /* seconds since 1970, for reading dates; 0: use the
                            response's own Date field */
    uint64_t _room[4];
} bide_response;

/* Classifies by the dependency's policy; with dep NULL, by the table of
 * defaults. Also reads hints and problem details. */
BIDE_API bide_outcome bide_classify(const bide_dep *dep,
                                    const bide_response *response);

/* Classifies an errno of a socket or file call. `not_sent` says that the caller
 * knows that no byte was sent; a refused connection proves it by itself. */
BIDE_API bide_outcome bide_outcome_errno(int err, bool not_sent);

/* Returns whether the outcome proves that no server was reached: nothing was
 * sent, because of dns, connect, reset or timeout. Policies that wait while that
 * is so (unreachable.wait) go by this. */
BIDE_API bool bide_outcome_unreached(const bide_outcome *outcome);

/* Returns whether the method is idempotent by definition (RFC 9110): GET, HEAD,
 * OPTIONS, TRACE, PUT, DELETE. Methods are case-sensitive. */
BIDE_API bool bide_method_idempotent(const char *method);

/* Return the name ("transient", "connect", "UNAVAILABLE"), or NULL for an
 * unknown number; and the reverse, or BIDE_ENAME if there is none of that
 * name. */
BIDE_API const char *bide_class_name(bide_class cls);
BIDE_API const char *bide_fault_name(bide_fault fault);
BIDE_API const char *bide_grpc_name(int code);
BIDE_API int bide_class_by_name(const char *name, bide_class *ret_cls);
BIDE_API int bide_fault_by_name(const char *name, bide_fault *ret_fault);
BIDE_API int bide_grpc_by_name(const char *name, int *ret_code);

BIDE_END_DECLS
#endif
