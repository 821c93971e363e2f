/* bide/hint.h: what a server says about retrying, read from header fields and
 * from problem details.
 *
 *     bide_hint hint = BIDE_HINT_INIT;
 *     for (size_t i = 0; i < n; i++)
 *         bide_hint_header(&hint, &headers[i], wall_s);
 *     if (hint.source && !hint.refused)
 *         printf("%s: in %" PRId64 " ns\n", bide_hint_name(hint.source),
 *                hint.wait_ns);
 *
 * bide_classify() does this for you; these functions are for tools that show
 * the steps. If a response has several hints, the most precise wins: the order
 * of BIDE_HINTS below, first to last. Of two of the same kind, the longer. */
#ifndef BIDE_HINT_H
#define BIDE_HINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "outcome.h"

BIDE_BEGIN_DECLS

/* X(name, header field, or what else it was read from) */
#define BIDE_HINTS(X)                                                          \
    X(BIDE_HINT_NONE, "none")                                                  \
    X(BIDE_HINT_GRPC_PUSHBACK, "grpc-retry-pushback-ms")                       \
    X(BIDE_HINT_RETRY_AFTER_MS, "retry-after-ms")                              \
    X(BIDE_HINT_MS_RETRY_AFTER_MS, "x-ms-retry-after-ms")                      \
    X(BIDE_HINT_AMZ_RETRY_AFTER, "x-amz-retry-after") /* milliseconds */       \
    X(BIDE_HINT_RETRY_AFTER, "retry-after")                                    \
    X(BIDE_HINT_PROBLEM, "problem details")                                    \
    X(BIDE_HINT_RATELIMIT, "ratelimit") /* "default";r=0;t=30 */               \
    X(BIDE_HINT_RATELIMIT_RESET, "ratelimit-reset")                            \
    X(BIDE_HINT_X_RATELIMIT_RESET, "x-ratelimit-reset")

typedef enum bide_hint_source {
#define BIDE__X(name, key) name,
    BIDE_HINTS(BIDE__X)
#undef BIDE__X
} bide_hint_source;

/* What has been read so far. Threads: owned. */
typedef struct bide_hint {
    bide_hint_source source; /* of wait_ns; NONE: no valid hint was seen */
    int64_t wait_ns;         /* >= 0; 0: in the past, back off as computed */
    bool refused;            /* the server said "do not retry" in some form */
    bool rate_limit_only;    /* wait_ns comes from a RateLimit field: it is
                                about the quota, and counts only if throttled */
    bool refused_below;      /* a bide below said it */
    bool exact;              /* wait_ns is the wait itself, 0 too */
    uint8_t _room[4];
} bide_hint;

#define BIDE_HINT_INIT { BIDE_HINT_NONE, 0, false, false, false, false, { 0 } }

/* Takes one header field into account. Fields that say nothing about retrying,
 * and invalid values, change nothing. Known fields: those of BIDE_HINTS,
 * `X-Bide-Retry: no` and `X-Should-Retry: false`. Dates are read against
 * `wall_s`, seconds since 1970; where that is unknown (0), they are invalid. */
BIDE_API void bide_hint_header(bide_hint *hint, const bide_header *header,
                               int64_t wall_s);

/* Returns the name of a source, as in "retry-after"; NULL if there is none. */
BIDE_API const char *bide_hint_name(bide_hint_source source);

/* Reads an HTTP-date in any of its three forms (RFC 9110, 5.6.7) into seconds
 * since 1970. `wall_s` determines the century of a two-digit year; if it is
 * unknown (0), the current year is assumed to be 2020. BIDE_EPARSE if the text
 * is none of the forms; *ret_s is then untouched. */
BIDE_API int bide_http_date(const char *text, size_t len, int64_t wall_s,
                            int64_t *ret_s);

/* The members of problem details (RFC 9457) that bear on retrying.
 * Threads: owned. */
typedef struct bide_problem {
    char type[256];         /* the URI; "" if absent, longer than that, or with
                               control characters in it */
    bool has_retry_after;   /* extension member `retry_after`, in seconds */
    int64_t retry_after_ns; /* >= 0, saturated */
    bool not_retryable;     /* extension member `retryable: false` */
} bide_problem;

/* The longest body that is read, in bytes; a longer one is ignored. */
#define BIDE_PROBLEM_MAX 16384

/* Reads problem details. The body must be one complete, valid JSON object of at
 * most BIDE_PROBLEM_MAX bytes, nested at most 32 deep; otherwise BIDE_EPARSE,
 * and *ret is untouched. Of repeated members the more cautious applies. */
BIDE_API int bide_problem_read_sized(const void *body, size_t len,
                                     bide_problem *ret, size_t size);
static inline int bide_problem_read(const void *body, size_t len,
                                    bide_problem *ret)
{
    return bide_problem_read_sized(body, len, ret, sizeof *ret);
}

BIDE_END_DECLS
#endif
