/* test_rule.c: what a policy's rules match, and what they make of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/response/outcome.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define S BIDE_SECOND
#define H(name, value) { name, sizeof(name) - 1, value, sizeof(value) - 1 }
#define FAULT(name) (1u << BIDE_FAULT_##name)
#define GRPC(name) (1u << BIDE_GRPC_##name)

static const bide_header headers[] = {
    H("Content-Type", "application/problem+json"),
    { NULL, 3, "x", 1 },
    H("X-Reason", " Rate Limited "),
    H("X-Reason", "second"),
    { "X-Null", 6, NULL, 9 },
    H("X-Empty", ""),
};

static const char body[] = "{\"type\":\"urn:busy\",\"retry_after\":4}";

/* What a rule that matches makes of an answer is IGNORED in these rows: no
 * default says so, and so it shows. */
struct row {
    bide_response r;
    bide_rule rule;
    bool matches;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bide_response r = rows[i].r;
        bide_rule rule = rows[i].rule;
        bide_class before;

        r.headers = headers;
        r.n_headers = COUNT(headers);
        r.body = body;
        r.body_len = sizeof body - 1;
        before = bide__classify(NULL, 0, &r).cls;
        rule.cls = before == BIDE_IGNORED ? BIDE_TRANSIENT : BIDE_IGNORED;
        if ((bide__classify(&rule, 1, &r).cls == rule.cls) != rows[i].matches)
            fail_msg("row %zu %s", i,
                     rows[i].matches ? "does not match" : "matches");
    }
}

static void rule_status_is_a_range(void **state)
{
    static const struct row rows[] = {
        { { .status = 503 }, { .status_min = 503, .status_max = 503 }, true },
        { { .status = 502 }, { .status_min = 503, .status_max = 503 }, false },
        { { .status = 504 }, { .status_min = 503, .status_max = 503 }, false },
        { { .status = 500 }, { .status_min = 500, .status_max = 599 }, true },
        { { .status = 599 }, { .status_min = 500, .status_max = 599 }, true },
        { { .status = 600 }, { .status_min = 500, .status_max = 599 }, false },
        { { .status = 0 }, { .status_min = 500, .status_max = 599 }, false },
        { { .status = -1 }, { .status_min = 0, .status_max = 599 }, false },
        { { .status = 65536 + 503 },
          { .status_min = 503, .status_max = 503 }, false },
        { { .status = 200 }, { .status_min = 200, .status_max = 200 }, true },
        { { .status = 404 }, { .method = NULL }, true }, /* asks nothing */
        /* the HTTP status of gRPC does not count */
        { { .status = 200, .is_grpc = true, .grpc_status = 14 },
          { .status_min = 200, .status_max = 299 }, false },
    };

    (void)state;
    check_rows(rows, COUNT(rows));
}

static void rule_fault_is_a_set(void **state)
{
    static const struct row rows[] = {
        { { .fault = BIDE_FAULT_RESET }, { .faults = FAULT(RESET) }, true },
        { { .fault = BIDE_FAULT_RESET },
          { .faults = FAULT(TIMEOUT) | FAULT(RESET) }, true },
        { { .fault = BIDE_FAULT_TLS }, { .faults = FAULT(RESET) }, false },
        { { .fault = BIDE_FAULT_NONE, .status = 404 },
          { .faults = FAULT(RESET) }, false },
        { { .fault = BIDE_FAULT_NONE, .status = 404 },
          { .faults = FAULT(NONE) }, true },
        { { .fault = BIDE_FAULT_RESET }, { .faults = 0 }, true },
        /* one that there is not is OTHER, and shifts nothing out of range */
        { { .fault = (bide_fault)77 }, { .faults = FAULT(OTHER) }, true },
        { { .fault = (bide_fault)77 }, { .faults = ~FAULT(OTHER) }, false },
        { { .fault = (bide_fault)-1 }, { .faults = FAULT(OTHER) }, true },
        /* a cancellation must be named */
        { { .fault = BIDE_FAULT_CANCELLED }, { .faults = 0 }, false },
        { { .fault = BIDE_FAULT_CANCELLED, .method = "GET" },
          { .method = "GET" }, false },
        { { .fault = BIDE_FAULT_CANCELLED },
          { .faults = FAULT(CANCELLED) }, true },
        { { .fault = BIDE_FAULT_CANCELLED, .status = 503 },
          { .status_min = 500, .status_max = 599 }, false },
    };

    (void)state;
    check_rows(rows, COUNT(rows));
}

static void rule_of_a_broken_answer_sees_what_decides(void **state)
{
    static const struct row rows[] = {
        /* half a 200: the fault decides */
        { { .status = 200, .fault = BIDE_FAULT_RESET },
          { .status_min = 200, .status_max = 299 }, false },
        { { .status = 200, .fault = BIDE_FAULT_RESET },
          { .faults = FAULT(RESET) }, true },
        { { .status = 200, .fault = BIDE_FAULT_RESET },
          { .status_min = 200, .status_max = 299, .faults = FAULT(RESET) },
          true },
        /* half a 503: the status does */
        { { .status = 503, .fault = BIDE_FAULT_RESET },
          { .status_min = 503, .status_max = 503 }, true },
        { { .status = 503, .fault = BIDE_FAULT_RESET },
          { .faults = FAULT(RESET) }, false },
        { { .status = 503, .fault = BIDE_FAULT_RESET },
          { .status_min = 503, .status_max = 503, .faults = FAULT(RESET) },
          true },
        { { .status = 503, .fault = BIDE_FAULT_RESET },
          { .status_min = 503, .status_max = 503, .faults = FAULT(TIMEOUT) },
          false },
        { { .status = 503, .fault = BIDE_FAULT_RESET },
          { .status_min = 504, .status_max = 504, .faults = FAULT(RESET) },
          false },
    };

    (void)state;
    check_rows(rows, COUNT(rows));
}

static void rule_grpc_is_a_set(void **state)
{
    static const struct row rows[] = {
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_ABORTED },
          { .grpc = GRPC(ABORTED) }, true },
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_ABORTED },
          { .grpc = GRPC(INTERNAL) | GRPC(UNKNOWN) }, false },
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_OK },
          { .grpc = GRPC(OK) }, true },
        { { .is_grpc = false, .grpc_status = BIDE_GRPC_OK },
          { .grpc = GRPC(OK) }, false },
        { { .is_grpc = true, .grpc_status = 17 }, { .grpc = ~0u }, false },
        { { .is_grpc = true, .grpc_status = 32 }, { .grpc = ~0u }, false },
        { { .is_grpc = true, .grpc_status = -1 }, { .grpc = ~0u }, false },
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_UNAVAILABLE,
            .fault = BIDE_FAULT_RESET }, { .grpc = GRPC(UNAVAILABLE) }, false },
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_UNAVAILABLE,
            .fault = BIDE_FAULT_RESET },
          { .grpc = GRPC(UNAVAILABLE), .faults = FAULT(RESET) }, true },
    };

    (void)state;
    check_rows(rows, COUNT(rows));
}

static void rule_text_is_compared(void **state)
{
    static const struct row rows[] = {
        { { .status = 404, .method = "POST" }, { .method = "POST" }, true },
        { { .status = 404, .method = "post" }, { .method = "POST" }, false },
        { { .status = 404, .method = "POSTS" }, { .method = "POST" }, false },
        { { .status = 404, .method = NULL }, { .method = "POST" }, false },

        { { .status = 404 }, { .header = "x-reason" }, true },
        { { .status = 404 }, { .header = "X-REASON" }, true },
        { { .status = 404 }, { .header = "X-Reaso" }, false },
        { { .status = 404 }, { .header = "X-Absent" }, false },
        { { .status = 404 },
          { .header = "x-reason", .header_value = "rate limited" }, true },
        { { .status = 404 }, /* any of those that are repeated */
          { .header = "x-reason", .header_value = "SECOND" }, true },
        { { .status = 404 },
          { .header = "x-reason", .header_value = "rate" }, false },
        { { .status = 404 },
          { .header = "x-reason", .header_value = "rate*" }, true },
        { { .status = 404 },
          { .header = "x-reason", .header_value = "rate limited*" }, true },
        { { .status = 404 },
          { .header = "x-reason", .header_value = "rate limited!*" }, false },
        { { .status = 404 },
          { .header = "x-reason", .header_value = "*" }, true },
        { { .status = 404 },
          { .header = "x-reason", .header_value = "*limited" }, false },
        { { .status = 404 },
          { .header = "x-reason", .header_value = "" }, false },
        { { .status = 404 }, { .header = "x-empty", .header_value = "" },
          true },
        { { .status = 404 }, { .header = "x-empty", .header_value = "*" },
          true },
        { { .status = 404 }, { .header = "x-null", .header_value = "" },
          true },
        { { .status = 404 }, { .header = "" }, false },

        { { .status = 404 }, { .problem_type = "urn:busy" }, true },
        { { .status = 200 }, { .problem_type = "urn:busy" }, true },
        { { .status = 404 }, { .problem_type = "urn:BUSY" }, false },
        { { .status = 404 }, { .problem_type = "urn:bus" }, false },
        { { .status = 404 }, { .problem_type = "" }, false },
    };

    (void)state;
    check_rows(rows, COUNT(rows));
}

static void rule_conditions_combine(void **state)
{
    static const bide_rule all = {
        .status_min = 409, .status_max = 409, .method = "PUT",
        .header = "x-reason", .header_value = "second",
        .problem_type = "urn:busy"
    };
    struct row rows[] = {
        { { .status = 409, .method = "PUT" }, all, true },
        { { .status = 408, .method = "PUT" }, all, false },
        { { .status = 409, .method = "GET" }, all, false },
        { { .status = 409, .method = "PUT" }, all, false },
        { { .status = 409, .method = "PUT" }, all, false },
        { { .status = 409, .method = "PUT" }, all, false },
        { { .status = 409, .method = "PUT" }, all, false },
    };

    (void)state;
    rows[3].rule.header = "x-other";
    rows[4].rule.header_value = "third";
    rows[5].rule.problem_type = "urn:idle";
    rows[6].rule.faults = FAULT(RESET);
    check_rows(rows, COUNT(rows));
}

static void rule_without_problem_details_does_not_match(void **state)
{
    static const bide_rule rule = { .problem_type = "urn:busy",
                                    .cls = BIDE_IGNORED };
    static const char empty[] = "{}";
    static const bide_header html = H("Content-Type", "text/html");
    bide_response r = { .status = 503 };

    (void)state;
    assert_int_equal(bide__classify(&rule, 1, &r).cls, BIDE_TRANSIENT);
    r.body = empty;
    r.body_len = 2;
    assert_int_equal(bide__classify(&rule, 1, &r).cls, BIDE_TRANSIENT);
    r.body = body;
    r.body_len = sizeof body - 1;
    assert_int_equal(bide__classify(&rule, 1, &r).cls, BIDE_IGNORED);
    r.headers = &html;
    r.n_headers = 1;
    assert_int_equal(bide__classify(&rule, 1, &r).cls, BIDE_TRANSIENT);
    r.headers = NULL; /* as many as it likes */
    assert_int_equal(bide__classify(&rule, 1, &r).cls, BIDE_IGNORED);
}

static void rule_that_matches_first_decides(void **state)
{
    static const bide_rule rules[] = {
        { .status_min = 404, .status_max = 404, .cls = BIDE_TRANSIENT },
        { .status_min = 400, .status_max = 499, .cls = BIDE_IGNORED,
          .not_processed = true },
        { .status_min = 404, .status_max = 404, .cls = BIDE_SUCCESS },
        { .status_min = 200, .status_max = 200, .method = "HEAD",
          .cls = BIDE_PERMANENT },
    };
    static const struct {
        bide_response r;
        bide_class cls;
        bool not_processed;
    } rows[] = {
        { { .status = 404 }, BIDE_TRANSIENT, false },
        { { .status = 410 }, BIDE_IGNORED, true },
        { { .status = 200 }, BIDE_SUCCESS, false },
        { { .status = 200, .method = "HEAD" }, BIDE_PERMANENT, false },
        { { .status = 503 }, BIDE_TRANSIENT, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_outcome out = bide__classify(rules, COUNT(rules), &rows[i].r);

        assert_int_equal(out.cls, rows[i].cls);
        assert_int_equal(out.not_processed, rows[i].not_processed);
    }
}

static void rule_cannot_unprove_that_nothing_was_sent(void **state)
{
    static const bide_rule rule = { .faults = FAULT(CONNECT),
                                    .cls = BIDE_PERMANENT };
    bide_response r = { .fault = BIDE_FAULT_CONNECT };

    (void)state;
    assert_int_equal(bide__classify(&rule, 1, &r).cls, BIDE_PERMANENT);
    assert_true(bide__classify(&rule, 1, &r).not_processed);
}

static void rule_of_a_refused_answer_gives_overloaded(void **state)
{
    static const struct {
        int status;
        bide_class rule, want;
    } rows[] = {
        { 429, BIDE_TRANSIENT, BIDE_OVERLOADED },
        { 429, BIDE_THROTTLED, BIDE_OVERLOADED },
        { 429, BIDE_PERMANENT, BIDE_PERMANENT },
        { 429, BIDE_SUCCESS, BIDE_SUCCESS },
        { 429, BIDE_IGNORED, BIDE_IGNORED },
        { 503, BIDE_TRANSIENT, BIDE_OVERLOADED },
        { 503, BIDE_THROTTLED, BIDE_OVERLOADED },
        { 503, BIDE_OVERLOADED, BIDE_OVERLOADED },
        { 500, BIDE_THROTTLED, BIDE_THROTTLED },
        { 200, BIDE_TRANSIENT, BIDE_TRANSIENT },
    };
    static const bide_header h = H("X-Should-Retry", "false");

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_rule rule = { .cls = rows[i].rule };
        bide_response r = { .status = rows[i].status, .headers = &h,
                            .n_headers = 1 };
        bide_outcome out = bide__classify(&rule, 1, &r);

        assert_int_equal(out.cls, rows[i].want);
        assert_int_equal(out.refused, rows[i].want != BIDE_SUCCESS &&
                                          rows[i].want != BIDE_IGNORED);
    }
}

/* The class that the rule gives, not the default, says whether hints count. */
static void rule_decides_which_hints_are_read(void **state)
{
    static const struct {
        int status;
        bide_class rule;
        bool hinted;
    } rows[] = {
        { 503, BIDE_THROTTLED, true },
        { 429, BIDE_TRANSIENT, false },
        { 200, BIDE_THROTTLED, true },
        { 429, BIDE_SUCCESS, false },
    };
    static const bide_header h = H("RateLimit-Reset", "30");

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_rule rule = { .cls = rows[i].rule };
        bide_response r = { .status = rows[i].status, .headers = &h,
                            .n_headers = 1 };
        bide_outcome out = bide__classify(&rule, 1, &r);

        assert_int_equal(out.hinted, rows[i].hinted);
        assert_true(out.hint_ns == (rows[i].hinted ? 30 * S : 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_status_is_a_range),
        cmocka_unit_test(rule_fault_is_a_set),
        cmocka_unit_test(rule_of_a_broken_answer_sees_what_decides),
        cmocka_unit_test(rule_grpc_is_a_set),
        cmocka_unit_test(rule_text_is_compared),
        cmocka_unit_test(rule_conditions_combine),
        cmocka_unit_test(rule_without_problem_details_does_not_match),
        cmocka_unit_test(rule_that_matches_first_decides),
        cmocka_unit_test(rule_cannot_unprove_that_nothing_was_sent),
        cmocka_unit_test(rule_of_a_refused_answer_gives_overloaded),
        cmocka_unit_test(rule_decides_which_hints_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
