/* claim.c: who owns the retries, read from requests and decided for attempts.
 *
 * Fields are read strictly, as hints are (hint.c): a value that is half
 * understood is worse than none. Taking them in is commutative: the claim of the
 * nearest layer counts, of two of one kind the larger, and of all deadlines the
 * earliest. */
#include "bide/claim.h"

#include "lib/ascii.h"
#include "lib/claim/baggage.h"
#include "lib/call.h"
#include "lib/claim/claim.h"

/* A deadline that passed longer ago than this is due to a wrong clock. */
#define BELIEVED_MS (BIDE_MINUTE / BIDE_MILLISECOND)

/* Scales of bide__read_integer(): powers of ten. */
enum { MS_TO_NS = 6 };

static const char *const names[] = {
#define X(name, key) key,
    BIDE_CLAIM_SOURCES(X)
#undef X
};

const char *bide_claim_source_name(bide_claim_source source)
{
    return (size_t)source < sizeof names / sizeof names[0] ? names[source]
                                                           : NULL;
}

/* ===== taking in ===== */

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

void bide__claim_offer(bide_claim *claim, bide_claim_source source,
                       int64_t attempt, int64_t max)
{
    if (attempt <= 0 || max == 1 || (max > 0 && attempt > max) ||
        source < claim->source)
        return;
    if (source > claim->source)
        claim->attempt = claim->max = 0;
    claim->source = source;
    claim->attempt = larger(
        claim->attempt, attempt < UINT32_MAX ? (uint32_t)attempt : UINT32_MAX);
    claim->max =
        larger(claim->max, max < UINT32_MAX ? (uint32_t)max : UINT32_MAX);
    if (claim->max) /* the two may be of different claims */
        claim->max = larger(claim->max, claim->attempt);
}

void bide__claim_limit(bide_claim *claim, int64_t left_ns)
{
    if (left_ns < claim->left_ns)
        claim->left_ns = left_ns;
}

/* The difference of two times that are both positive cannot overflow; in
 * nanoseconds it can. */
void bide__claim_until(bide_claim *claim, int64_t until_ms, int64_t wall_ms)
{
    if (wall_ms <= 0 || until_ms < wall_ms - BELIEVED_MS)
        return;
    int64_t left = until_ms > wall_ms ? until_ms - wall_ms : 0;
    if (left <= INT64_MAX / BIDE_MILLISECOND)
        bide__claim_limit(claim, left * BIDE_MILLISECOND);
}

/* ===== the fields ===== */

/* `name=INTEGER`, among the parameters of a value: "attempt=2; max=3". -1 if it
 * is not there or not a number. */
static int64_t parameter(struct bide__text value, const char *name)
{
    struct bide__text wanted = bide__text_of(name);
    int64_t n;

    while (value.len > 0) {
        struct bide__text piece = bide__piece(&value, ';');
        struct bide__text key = bide__piece(&piece, '=');
        if (bide__same(key, wanted))
            return bide__read_integer(piece, 0, &n) ? n : -1;
    }
    return 0;
}

/* "2; max=4", or just "2". */
static void read_bide(bide_claim *claim, struct bide__text value)
{
    struct bide__text first = bide__piece(&value, ';');
    int64_t attempt, max = parameter(value, "max");

    if (max >= 0 && bide__read_integer(first, 0, &attempt))
        bide__claim_offer(claim, BIDE_CLAIM_HEADER, attempt, max);
}

static void read_ms(bide_claim *claim, struct bide__text value)
{
    int64_t ns;
    if (bide__read_integer(value, MS_TO_NS, &ns))
        bide__claim_limit(claim, ns);
}

static void read_envoy(bide_claim *claim, struct bide__text value)
{
    int64_t attempt;
    if (bide__read_integer(value, 0, &attempt))
        bide__claim_offer(claim, BIDE_CLAIM_ENVOY, attempt, 0);
}

/* How many came before: only a retry has it. */
static void read_grpc(bide_claim *claim, struct bide__text value)
{
    int64_t before;
    if (bide__read_integer(value, 0, &before) && before > 0)
        bide__claim_offer(claim, BIDE_CLAIM_GRPC,
                          before < UINT32_MAX ? before + 1 : before, 0);
}

/* At most eight digits and a unit, by the specification. */
static void read_grpc_timeout(bide_claim *claim, struct bide__text value)
{
    static const struct {
        char unit;
        int64_t ns;
    } units[] = { { 'H', BIDE_HOUR },     { 'M', BIDE_MINUTE },
                  { 'S', BIDE_SECOND },   { 'm', BIDE_MILLISECOND },
                  { 'u', INT64_C(1000) }, { 'n', 1 } };
    int64_t n;

    if (value.len < 2 || value.len > 9 ||
        !bide__read_integer((struct bide__text){ value.at, value.len - 1 }, 0,
                            &n))
        return;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (units[i].unit == value.at[value.len - 1])
            bide__claim_limit(claim, n > INT64_MAX / units[i].ns
                                         ? BIDE_FOREVER
                                         : n * units[i].ns);
}

static void read_aws(bide_claim *claim, struct bide__text value)
{
    int64_t attempt = parameter(value, "attempt");
    int64_t max = parameter(value, "max");
    if (max >= 0)
        bide__claim_offer(claim, BIDE_CLAIM_AWS, attempt, max);
}

/* Whose a field is: everybody may send bide's, others' count if trusted. */
enum whose { OURS, ENVOYS, GRPCS, AWS_S };

static const struct {
    const char *name;
    enum whose whose;
    void (*read)(bide_claim *claim, struct bide__text value);
} fields[] = {
    { "x-bide-attempt", OURS, read_bide },
    { "x-bide-timeout-ms", OURS, read_ms },
    { "x-envoy-attempt-count", ENVOYS, read_envoy },
    { "x-envoy-expected-rq-timeout-ms", ENVOYS, read_ms },
    { "grpc-previous-rpc-attempts", GRPCS, read_grpc },
    { "grpc-timeout", GRPCS, read_grpc_timeout },
    { "amz-sdk-request", AWS_S, read_aws },
};

static bool counts(enum whose whose, const bide_trust_conf *trust)
{
    switch (whose) {
    case ENVOYS:
        return trust && trust->envoy;
    case GRPCS:
        return trust && trust->grpc;
    case AWS_S:
        return trust && trust->aws;
    default:
        return true;
    }
}

void bide_claim_header(bide_claim *claim, const bide_header *header,
                       const bide_trust_conf *trust, int64_t wall_ms)
{
    if (!claim || !header || !header->name)
        return;
    struct bide__text name = { header->name, header->name_len };
    struct bide__text value = bide__trim(header->value, header->value_len);

    if (bide__same(name, bide__text_of("baggage"))) {
        bide__baggage_read(claim, value, wall_ms);
        return;
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (counts(fields[i].whose, trust) &&
            bide__same(name, bide__text_of(fields[i].name)))
            fields[i].read(claim, value);
}

void bide_claim_apply(const bide_claim *claim, bide_op *op, int64_t now_ns)
{
    if (!claim || !op)
        return;
    if (claim->attempt) {
        op->upstream_attempt = claim->attempt;
        op->upstream_max = claim->max;
    }
    if (claim->left_ns == BIDE_FOREVER)
        return;
    int64_t deadline = bide__add_ns(bide__clock(now_ns), claim->left_ns);
    if (deadline <= 0)
        deadline = 1; /* 0 would be none */
    if (op->deadline_ns <= 0 || deadline < op->deadline_ns)
        op->deadline_ns = deadline;
}

/* ===== the rule ===== */

/* Whether this layer could make another attempt, as far as that is known when
 * one is sent. A failure that proves that nothing was sent can be retried for
 * any operation, but that is not worth forbidding all other retries below. */
static bool could_retry(const struct bide__call *c)
{
    return c->dep->policy.max_attempts > 1 && c->is.safe_twice &&
           !c->is.one_shot && !c->is.no_more && !bide__retries_off(c->dep);
}

bide_claim bide_call_claim(const bide_call *call, const bide_op *op,
                           uint32_t attempt, int64_t now_ns)
{
    const struct bide__call *c = (const struct bide__call *)call;
    bide_claim claim = BIDE_CLAIM_INIT;
    int64_t now = bide__clock(now_ns);

    if (c->deadline_ns != BIDE_FOREVER)
        claim.left_ns = c->deadline_ns > now ? c->deadline_ns - now : 0;
    if (could_retry(c) && !c->is.nested) {
        claim.attempt = attempt - c->missed; /* those reached nobody */
        claim.max = larger(claim.attempt, c->dep->policy.max_attempts);
    } else if (op) {
        claim.attempt = op->upstream_attempt;
        claim.max = op->upstream_max;
    }
    if (claim.attempt)
        claim.source = BIDE_CLAIM_HEADER;
    return claim;
}

int64_t bide_claim_left_ms(const bide_claim *claim)
{
    int64_t ns = claim->left_ns;
    return ns > 0 ? (ns - 1) / BIDE_MILLISECOND + 1 : 0;
}
