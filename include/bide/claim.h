/* bide/claim.h: who owns the retries of a request, and how long it may take.
 *
 * If each of three layers made four attempts, one request of a user could become
 * 64 at the bottom. So one layer owns the retries: it says so in its requests,
 * and the layers below make one attempt each and pass the outcome up. A program
 * that serves requests reads the claim, and calls by it:
 *
 *     bide_claim above = BIDE_CLAIM_INIT;
 *     for (size_t i = 0; i < n; i++)
 *         bide_claim_header(&above, &headers[i], NULL, wall_ms);
 *     bide_op op = { .idempotent = true };
 *     bide_claim_apply(&above, &op, now);
 *     bide_call_begin(&call, dep, &op, now);
 *
 * and a driver of your own writes the claim of each attempt:
 *
 *     bide_claim claim = bide_call_claim(&call, &op, d.attempt, now);
 *     if (claim.attempt)
 *         printf("X-Bide-Attempt: %u; max=%u\r\n", claim.attempt, claim.max);
 *
 * The drivers of bide (curl.h, `bide run`, `bide fetch`, `bide proxy`) do all
 * this themselves.
 *
 * On the wire a claim has two forms. The header fields go from neighbour to
 * neighbour:
 *
 *   X-Bide-Attempt: 2; max=4
 *   X-Bide-Timeout-Ms: 1500
 *
 * and the members of W3C baggage travel on through any application that is
 * instrumented by OpenTelemetry, which forwards baggage by itself:
 *
 *   baggage: bide.attempt=2,bide.max=4,bide.deadline=1767225601500
 *
 * The field has the time that is left, which needs no clocks that agree but
 * would age in an application in between; the member has a point in time,
 * in milliseconds since 1970, which does not. A deadline over a minute in the
 * past is not believed: it tells of a wrong clock. Of two deadlines the earlier
 * counts.
 *
 * A claim can take retries and time away from the request that carries it, and
 * from no other; it can never add any. So it is safe to read it from
 * strangers. */
#ifndef BIDE_CLAIM_H
#define BIDE_CLAIM_H

#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "outcome.h"
#include "policy.h"

BIDE_BEGIN_DECLS

/* Where a claim was read; of several, the last in this list counts.
 * X(name, what it was read from) */
#define BIDE_CLAIM_SOURCES(X)                                                  \
    X(BIDE_CLAIM_NONE, "none")                                                 \
    X(BIDE_CLAIM_GRPC, "grpc-previous-rpc-attempts")                           \
    X(BIDE_CLAIM_ENVOY, "x-envoy-attempt-count")                               \
    X(BIDE_CLAIM_AWS, "amz-sdk-request")                                       \
    X(BIDE_CLAIM_BAGGAGE, "baggage")                                           \
    X(BIDE_CLAIM_HEADER, "x-bide-attempt")

typedef enum bide_claim_source {
#define BIDE__X(name, key) name,
    BIDE_CLAIM_SOURCES(BIDE__X)
#undef BIDE__X
} bide_claim_source;

/* A claim. Threads: owned. */
typedef struct bide_claim {
    uint32_t attempt; /* of its owner, from 1; 0: no one owns the retries */
    uint32_t max;     /* attempts that the owner may make; 0: it did not say */
    int64_t left_ns;  /* >= 0: the time that is left; FOREVER: no limit */
    bide_claim_source source; /* of attempt and max */
} bide_claim;

#define BIDE_CLAIM_INIT { 0, 0, BIDE_FOREVER, BIDE_CLAIM_NONE }

/* Takes one header field of a request into account. Fields that say nothing
 * about retries or deadlines, and invalid values, change nothing; the order of
 * fields makes no difference. Read are X-Bide-Attempt, X-Bide-Timeout-Ms and
 * baggage, and, if `trust` (NULL: no one) says so:
 *
 *   trust.envoy   x-envoy-attempt-count, x-envoy-expected-rq-timeout-ms
 *   trust.grpc    grpc-previous-rpc-attempts, grpc-timeout
 *   trust.aws     amz-sdk-request
 *
 * A claim of one attempt (max=1) is none: its sender will not retry. gRPC names
 * only retries, not first attempts. `wall_ms` is milliseconds since 1970, for
 * bide.deadline, which is ignored if that is not known (0). */
BIDE_API void bide_claim_header(bide_claim *claim, const bide_header *header,
                                const bide_trust_conf *trust, int64_t wall_ms);

/* Sets upstream_attempt and upstream_max of an operation that begins now, if the
 * claim has any; and deadline_ns, unless an earlier one is set already. */
BIDE_API void bide_claim_apply(const bide_claim *claim, bide_op *op,
                               int64_t now_ns);

/* Returns the claim that attempt number `attempt` of a call is to carry. The
 * call claims the retries for itself if it could really make some: more than
 * one attempt is allowed, and the operation is safe to repeat (idempotent or
 * with a key, its body still available). If a layer above owns them, or this
 * one could make none, the claim in `op`, which is the operation that the call
 * was begun with, is passed on. Otherwise attempt is 0, and the layer below may
 * retry. left_ns is always set. */
BIDE_API bide_claim bide_call_claim(const bide_call *call, const bide_op *op,
                                    uint32_t attempt, int64_t now_ns);

/* Returns left_ns in whole milliseconds, rounded up: whoever is below should
 * give up after us, not shortly before. For X-Bide-Timeout-Ms. */
BIDE_API int64_t bide_claim_left_ms(const bide_claim *claim);

/* The name of a source, as in "x-bide-attempt"; NULL if there is none. */
BIDE_API const char *bide_claim_source_name(bide_claim_source source);

/* ===== baggage ===== */

/* What must be propagated at least, and so the most that bide adds to. */
#define BIDE_BAGGAGE_BYTES 8192
#define BIDE_BAGGAGE_MEMBERS 64

/* The longest text of bide's own members. */
#define BIDE_BAGGAGE_OWN 80

/* Writes the value of a baggage field: the members in `theirs`, the n values of
 * baggage that are already there, without those named bide.attempt, bide.max
 * and bide.deadline, and then those of the claim (NULL: none). Members of others
 * are never dropped or changed; if there is no room beside them (above), the
 * claim's are left out. Returns the length; 0: there are no members. If that is
 * more than `size`, nothing is written. No NUL is appended. `wall_ms` as for
 * bide_claim_header(); 0: no bide.deadline. */
BIDE_API size_t bide_baggage_write(char *to, size_t size,
                                   const bide_header *theirs, size_t n,
                                   const bide_claim *claim, int64_t wall_ms);

BIDE_END_DECLS
#endif
