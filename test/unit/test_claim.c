/* test_claim.c: who owns the retries: what requests say, and what attempts
 * claim. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bide/claim.h"
#include "bide/dep.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MS           BIDE_MILLISECOND
#define S            BIDE_SECOND
#define NONE         BIDE_FOREVER
#define WALL         INT64_C(1767225600000) /* 2026-01-01, in ms */

static const bide_trust_conf all = { true, true, true };

static void take(bide_claim *claim, const char *name, const char *value,
                 const bide_trust_conf *trust)
{
    bide_header h = { name, strlen(name), value, strlen(value) };
    bide_claim_header(claim, &h, trust, WALL);
}

struct row {
    const char *name, *value;
    uint32_t attempt, max;
    int64_t left_ns;
};

static void check_rows(const struct row *rows, size_t n,
                       const bide_trust_conf *trust)
{
    for (size_t i = 0; i < n; i++) {
        bide_claim claim = BIDE_CLAIM_INIT;
        take(&claim, rows[i].name, rows[i].value, trust);
        if (claim.attempt != rows[i].attempt || claim.max != rows[i].max ||
            claim.left_ns != rows[i].left_ns)
            fail_msg("%s: %s: %u of %u, %lld ns left", rows[i].name,
                     rows[i].value, claim.attempt, claim.max,
                     (long long)claim.left_ns);
        assert_true((claim.attempt == 0) == (claim.source == BIDE_CLAIM_NONE));
    }
}

/* The tables are laid out by hand. */
/* clang-format off */

static void claim_is_read_strictly(void **state)
{
    static const struct row rows[] = {
        { "X-Bide-Attempt", "2; max=4", 2, 4, NONE },
        { "x-bide-attempt", " 2 ;max=4\t", 2, 4, NONE },
        { "x-bide-attempt", "2;x=y;max=4;z", 2, 4, NONE },
        { "x-bide-attempt", "3", 3, 0, NONE },      /* it did not say of how many */
        { "x-bide-attempt", "4; max=4", 4, 4, NONE }, /* the last is owned too */
        { "x-bide-attempt", "1; max=1", 0, 0, NONE }, /* it will not retry */
        { "x-bide-attempt", "5; max=4", 0, 0, NONE },
        { "x-bide-attempt", "0; max=4", 0, 0, NONE },
        { "x-bide-attempt", "2; max=-1", 0, 0, NONE },
        { "x-bide-attempt", "2; max=many", 0, 0, NONE },
        { "x-bide-attempt", "2; max=", 0, 0, NONE },
        { "x-bide-attempt", "two; max=4", 0, 0, NONE },
        { "x-bide-attempt", "-2", 0, 0, NONE },
        { "x-bide-attempt", "2.0", 0, 0, NONE },
        { "x-bide-attempt", "2, 3", 0, 0, NONE },
        { "x-bide-attempt", "", 0, 0, NONE },
        { "x-bide-attempt", ";max=4", 0, 0, NONE },
        { "x-bide-attempt", "99999999999999999999", UINT32_MAX, 0, NONE },
        { "x-bide-attempts", "2; max=4", 0, 0, NONE },
        { "X-Bide-Timeout-Ms", "1500", 0, 0, 1500 * MS },
        { "x-bide-timeout-ms", "0", 0, 0, 0 },
        { "x-bide-timeout-ms", "-1", 0, 0, NONE },
        { "x-bide-timeout-ms", "1.5", 0, 0, NONE },
        { "x-bide-timeout-ms", "soon", 0, 0, NONE },
        { "x-bide-timeout-ms", "9223372036854775807", 0, 0, NONE },
    };
    (void)state;
    check_rows(rows, COUNT(rows), NULL);
}

static void claims_of_others_are_read_if_trusted(void **state)
{
    static const struct row rows[] = {
        { "x-envoy-attempt-count", "1", 1, 0, NONE },
        { "X-Envoy-Attempt-Count", "3", 3, 0, NONE },
        { "x-envoy-attempt-count", "0", 0, 0, NONE },
        { "x-envoy-attempt-count", "1x", 0, 0, NONE },
        { "x-envoy-expected-rq-timeout-ms", "250", 0, 0, 250 * MS },
        { "grpc-previous-rpc-attempts", "1", 2, 0, NONE },
        { "grpc-previous-rpc-attempts", "0", 0, 0, NONE },
        { "grpc-previous-rpc-attempts", "9999999999", UINT32_MAX, 0, NONE },
        { "grpc-timeout", "2H", 0, 0, 2 * BIDE_HOUR },
        { "grpc-timeout", "3M", 0, 0, 3 * BIDE_MINUTE },
        { "grpc-timeout", "4S", 0, 0, 4 * S },
        { "grpc-timeout", "99999999m", 0, 0, 99999999 * MS },
        { "grpc-timeout", "5u", 0, 0, 5000 },
        { "grpc-timeout", "6n", 0, 0, 6 },
        { "grpc-timeout", "99999999H", 0, 0, NONE }, /* longer than time is */
        { "grpc-timeout", "100000000m", 0, 0, NONE }, /* nine digits */
        { "grpc-timeout", "1s", 0, 0, NONE },
        { "grpc-timeout", "S", 0, 0, NONE },
        { "grpc-timeout", "1 S", 0, 0, NONE },
        { "grpc-timeout", "-1S", 0, 0, NONE },
        { "amz-sdk-request", "attempt=2; max=3", 2, 3, NONE },
        { "amz-sdk-request", "ttl=20260101T000000Z;attempt=1;max=3", 1, 3, NONE },
        { "amz-sdk-request", "attempt=1; max=1", 0, 0, NONE },
        { "amz-sdk-request", "attempt=1", 1, 0, NONE },
        { "amz-sdk-request", "max=3", 0, 0, NONE },
        { "amz-sdk-request", "attempt=4; max=3", 0, 0, NONE },
        { "amz-sdk-request", "attempt=x; max=3", 0, 0, NONE },
    };
    (void)state;
    check_rows(rows, COUNT(rows), &all);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const bide_trust_conf none = { false, false, false };
        const struct row untold = { rows[i].name, rows[i].value, 0, 0, NONE };
        check_rows(&untold, 1, NULL);
        check_rows(&untold, 1, &none);
    }
}

static void claim_trusts_each_by_itself(void **state)
{
    static const bide_trust_conf envoy = { .envoy = true },
                                 grpc = { .grpc = true }, aws = { .aws = true };
    static const char *const fields[][2] = {
        { "x-envoy-attempt-count", "2" },
        { "grpc-previous-rpc-attempts", "1" },
        { "amz-sdk-request", "attempt=2; max=3" },
    };
    static const bide_trust_conf *const trusts[] = { &envoy, &grpc, &aws };
    (void)state;
    for (size_t i = 0; i < COUNT(fields); i++)
        for (size_t k = 0; k < COUNT(trusts); k++) {
            bide_claim claim = BIDE_CLAIM_INIT;
            take(&claim, fields[i][0], fields[i][1], trusts[k]);
            assert_int_equal(claim.attempt, i == k ? 2 : 0);
        }
}

/* The neighbour knows best; of one kind the larger counts; and of all deadlines
 * the earliest. In any order. */
static void claim_of_several_is_the_nearest(void **state)
{
    static const char *const fields[][2] = {
        { "baggage", "bide.attempt=5,bide.max=6,bide.deadline=1767225603000" },
        { "amz-sdk-request", "attempt=7; max=8" },
        { "x-bide-attempt", "2; max=4" },
        { "x-bide-attempt", "1; max=4" },
        { "x-bide-timeout-ms", "4000" },
        { "grpc-timeout", "2S" },
        { "x-envoy-attempt-count", "9" },
    };
    (void)state;
    for (size_t from = 0; from < COUNT(fields); from++) {
        bide_claim claim = BIDE_CLAIM_INIT;
        for (size_t i = 0; i < COUNT(fields); i++) {
            const char *const *f = fields[(from + i) % COUNT(fields)];
            take(&claim, f[0], f[1], &all);
        }
        assert_int_equal(claim.source, BIDE_CLAIM_HEADER);
        assert_int_equal(claim.attempt, 2);
        assert_int_equal(claim.max, 4);
        assert_int_equal(claim.left_ns, 2 * S);
    }
    assert_string_equal(bide_claim_source_name(BIDE_CLAIM_HEADER),
                        "x-bide-attempt");
    assert_null(bide_claim_source_name((bide_claim_source)99));
}

/* clang-format on */

static void claim_applied_never_adds_time(void **state)
{
    bide_claim claim = BIDE_CLAIM_INIT;
    bide_op op = { .upstream_attempt = 3, .upstream_max = 5 };

    (void)state;
    bide_claim_apply(&claim, &op, 10 * S);
    assert_int_equal(op.upstream_attempt, 3); /* it has nothing to say */
    assert_int_equal(op.upstream_max, 5);
    assert_int_equal(op.deadline_ns, 0);

    claim = (bide_claim){ 1, 2, 4 * S, BIDE_CLAIM_HEADER };
    bide_claim_apply(&claim, &op, 10 * S);
    assert_int_equal(op.upstream_attempt, 1);
    assert_int_equal(op.upstream_max, 2);
    assert_int_equal(op.deadline_ns, 14 * S);
    bide_claim_apply(&claim, &op, 12 * S);
    assert_int_equal(op.deadline_ns, 14 * S);
    claim.left_ns = INT64_MAX - 1;
    bide_claim_apply(&claim, &op, 12 * S);
    assert_int_equal(op.deadline_ns, 14 * S);
    claim.left_ns = 0;
    op.deadline_ns = 0;
    bide_claim_apply(&claim, &op, 0);
    assert_int_equal(op.deadline_ns, 1); /* 0 would be none */
    bide_claim_apply(NULL, &op, 0);
    bide_claim_apply(&claim, NULL, 0);
}

/* ===== what is claimed ===== */

static bide_claim claim_under(const bide_policy_conf *conf, const bide_op *op,
                              uint32_t attempt, int64_t now)
{
    bide_dep *dep;
    bide_call call;
    assert_int_equal(bide_dep_new(&dep, "x", conf), 0);
    bide_call_begin(&call, dep, op, 0);
    bide_claim claim = bide_call_claim(&call, op, attempt, now);
    bide_call_end(&call, now);
    bide_dep_free(dep);
    return claim;
}

static void claim_is_made_by_whoever_could_retry(void **state)
{
    static const struct {
        uint32_t attempts, hedges;
        bool key;
        bide_nested nested;
        bide_op op;
        uint32_t attempt, max;
    } rows[] = {
        { 4, 0, false, 0, { .idempotent = true }, 2, 4 },
        { 4, 0, false, 0, { .has_key = true }, 2, 4 },
        { 4, 0, true, 0, { 0 }, 2, 4 }, /* it will get a key */
        { 4, 0, false, 0, { 0 }, 0, 0 },
        { 1, 0, false, 0, { .idempotent = true }, 0, 0 },
        { 1, 2, false, 0, { .idempotent = true }, 2, 3 },
        { 4, 0, false, 0, { .idempotent = true, .one_shot_body = true }, 0, 0 },
        /* a layer above has claimed them */
        { 4,
          0,
          false,
          BIDE_NESTED_PASS,
          { .idempotent = true, .upstream_attempt = 7, .upstream_max = 9 },
          7,
          9 },
        { 4,
          0,
          false,
          BIDE_NESTED_RETRY,
          { .idempotent = true, .upstream_attempt = 7, .upstream_max = 9 },
          2,
          4 },
        { 4,
          0,
          false,
          BIDE_NESTED_RETRY,
          { .upstream_attempt = 7, .upstream_max = 9 },
          7,
          9 },
        { 1,
          0,
          false,
          BIDE_NESTED_RETRY,
          { .idempotent = true, .upstream_attempt = 7 },
          7,
          0 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
        conf.attempts = rows[i].attempts;
        conf.hedge.max = rows[i].hedges;
        conf.idempotency_key = rows[i].key ? BIDE_KEY_GENERATE : BIDE_KEY_NONE;
        conf.nested = rows[i].nested;
        bide_claim got = claim_under(&conf, &rows[i].op, 2, 0);
        if (got.attempt != rows[i].attempt || got.max != rows[i].max)
            fail_msg("row %zu: %u of %u", i, got.attempt, got.max);
        assert_int_equal(got.left_ns, BIDE_FOREVER);
    }
}

/* Whatever is claimed is understood by the layer below. */
static void claim_names_no_attempt_beyond_its_maximum(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_op op = { .idempotent = true, .attempts_made = 9 };
    (void)state;
    bide_claim got = claim_under(&conf, &op, 10, 0);
    assert_int_equal(got.attempt, 10);
    assert_int_equal(got.max, 10);
}

static void claim_has_the_time_that_is_left(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_op op = { .idempotent = true };
    (void)state;
    conf.deadline_ns = 2 * S;
    bide_claim got = claim_under(&conf, &op, 1, 500 * MS);
    assert_int_equal(got.left_ns, 1500 * MS);
    assert_int_equal(bide_claim_left_ms(&got), 1500);
    got = claim_under(&conf, &op, 1, 2 * S - 1);
    assert_int_equal(bide_claim_left_ms(&got), 1); /* rounded up */
    got = claim_under(&conf, &op, 1, 3 * S);
    assert_int_equal(got.left_ns, 0);
    op.deadline_ns = 10 * S; /* of a stranger: it cannot add to the policy's */
    got = claim_under(&conf, &op, 1, 500 * MS);
    assert_int_equal(got.left_ns, 1500 * MS);
    op.deadline_ns = 600 * MS;
    got = claim_under(&conf, &op, 1, 500 * MS);
    assert_int_equal(got.left_ns, 100 * MS);
}

/* A call that was asked for no further attempts will not retry. */
static void claim_ends_with_no_more(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_op op = { .idempotent = true };
    bide_dep *dep;
    bide_call call;
    (void)state;
    assert_int_equal(bide_dep_new(&dep, "x", &conf), 0);
    bide_call_begin(&call, dep, &op, 0);
    assert_int_equal(bide_call_claim(&call, &op, 1, 0).attempt, 1);
    assert_int_equal(bide_call_claim(&call, NULL, 1, 0).attempt, 1);
    bide_call_no_more(&call);
    assert_int_equal(bide_call_claim(&call, &op, 1, 0).attempt, 0);
    assert_int_equal(bide_call_claim(&call, NULL, 1, 0).attempt, 0);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

/* A program that was compiled when policies had no `trust` trusts no one. */
static void regress_shorter_policy_is_not_read_beyond_its_end(void **state)
{
    struct {
        unsigned char conf[offsetof(bide_policy_conf, trust)];
        unsigned char beyond[sizeof(bide_policy_conf)];
    } old;
    bide_policy_conf now = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    (void)state;
    now.size = sizeof old.conf;
    memcpy(old.conf, &now, sizeof old.conf);
    memset(old.beyond, 0xff, sizeof old.beyond);
    const bide_policy_conf *conf = (const void *)&old;
    assert_int_equal(bide_policy_check(conf), 0);
    assert_int_equal(bide_dep_new(&dep, "x", conf), 0);
    assert_false(bide_dep_policy(dep)->trust.envoy);
    assert_false(bide_dep_policy(dep)->trust.aws);
    assert_int_equal(bide_dep_policy(dep)->size, sizeof(bide_policy_conf));
    bide_dep_free(dep);
}

/* ===== Envoy's refusal ===== */

static bide_outcome answered(bool trusted, int status, const char *value)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_header h = { "X-Envoy-Overloaded", 18, value, strlen(value) };
    bide_response r = { .status = status, .headers = &h, .n_headers = 1 };
    bide_dep *dep;
    conf.trust.envoy = trusted;
    assert_int_equal(bide_dep_new(&dep, "x", &conf), 0);
    bide_outcome out = bide_classify(dep, &r);
    bide_dep_free(dep);
    return out;
}

static void envoy_overloaded_refuses_if_trusted(void **state)
{
    bide_outcome out = answered(true, 503, "true");
    (void)state;
    assert_int_equal(out.cls, BIDE_OVERLOADED);
    assert_true(out.refused && out.refused_below);
    out = answered(true, 500, "true");
    assert_int_equal(out.cls, BIDE_TRANSIENT); /* it does not speak of load */
    assert_true(out.refused);
    out = answered(false, 503, "true");
    assert_int_equal(out.cls, BIDE_TRANSIENT);
    assert_false(out.refused || out.refused_below);
    out = answered(true, 503, "false");
    assert_false(out.refused);
    out = answered(true, 200, "true");
    assert_int_equal(out.cls, BIDE_SUCCESS);
    assert_false(out.refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claim_is_read_strictly),
        cmocka_unit_test(claims_of_others_are_read_if_trusted),
        cmocka_unit_test(claim_trusts_each_by_itself),
        cmocka_unit_test(claim_of_several_is_the_nearest),
        cmocka_unit_test(claim_applied_never_adds_time),
        cmocka_unit_test(claim_is_made_by_whoever_could_retry),
        cmocka_unit_test(claim_names_no_attempt_beyond_its_maximum),
        cmocka_unit_test(claim_has_the_time_that_is_left),
        cmocka_unit_test(claim_ends_with_no_more),
        cmocka_unit_test(regress_shorter_policy_is_not_read_beyond_its_end),
        cmocka_unit_test(envoy_overloaded_refuses_if_trusted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
