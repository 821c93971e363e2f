/* test_classify.c: the table of defaults, and the hints of an answer. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/response/outcome.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define NOW INT64_C(784111777) /* Sun, 06 Nov 1994 08:49:37 GMT */
#define S BIDE_SECOND
#define H(name, value) { name, sizeof(name) - 1, value, sizeof(value) - 1 }

static bide_outcome classify(const bide_response *r)
{
    return bide__classify(NULL, 0, r);
}

/* Rules that do not match take the long way to the same class. */
static const bide_rule never = { .method = "NEVER", .cls = BIDE_IGNORED };

static void check_class(const bide_response *r, bide_class want)
{
    bide_outcome out = classify(r);

    if (out.cls != want)
        fail_msg("status %d, fault %d, grpc %d %d: %s instead of %s", r->status,
                 r->fault, r->is_grpc, r->grpc_status,
                 bide_class_name(out.cls), bide_class_name(want));
    assert_int_equal(out.status, r->status);
}

static void classify_every_status_has_its_class(void **state)
{
    static const struct {
        int first, last;
        bide_class cls;
    } rows[] = {
        { -1000, 100, BIDE_PERMANENT }, { 101, 101, BIDE_SUCCESS },
        { 102, 199, BIDE_PERMANENT },   { 200, 399, BIDE_SUCCESS },
        { 400, 407, BIDE_PERMANENT },   { 408, 408, BIDE_TRANSIENT },
        { 409, 424, BIDE_PERMANENT },   { 425, 425, BIDE_TRANSIENT },
        { 426, 428, BIDE_PERMANENT },   { 429, 429, BIDE_THROTTLED },
        { 430, 499, BIDE_PERMANENT },   { 500, 500, BIDE_TRANSIENT },
        { 501, 501, BIDE_PERMANENT },   { 502, 504, BIDE_TRANSIENT },
        { 505, 506, BIDE_PERMANENT },   { 507, 508, BIDE_TRANSIENT },
        { 509, 519, BIDE_PERMANENT },   { 520, 529, BIDE_TRANSIENT },
        { 530, 598, BIDE_PERMANENT },   { 599, 599, BIDE_TRANSIENT },
        { 600, 1000, BIDE_PERMANENT },  { INT_MAX, INT_MAX, BIDE_PERMANENT },
        { INT_MIN, INT_MIN, BIDE_PERMANENT },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int64_t s = rows[i].first; s <= rows[i].last; s++) {
            bide_response r = { .status = (int)s };

            check_class(&r, rows[i].cls);
            assert_int_equal(classify(&r).fault, BIDE_FAULT_NONE);
            assert_false(classify(&r).not_processed);
            assert_int_equal(bide__classify(&never, 1, &r).cls, rows[i].cls);
        }
}

/* What a sidecar answers in front of a server, by X-Bide-Reason or, where such
 * fields are off, by the type of the problem. */
static void classify_keys_in_progress_are_waited_for(void **state)
{
    static const char body[] =
        "{\"type\":\"urn:bide:problem:idempotency_in_progress\"}";
    static const struct {
        int status;
        const char *reason;
        bool by_body, refused;
        bide_class cls;
    } rows[] = {
        { 409, "idempotency_in_progress", false, false, BIDE_TRANSIENT },
        { 409, NULL, true, false, BIDE_TRANSIENT },
        { 409, "idempotency_unknown", false, true, BIDE_PERMANENT },
        { 409, "idempotency_too_large", false, true, BIDE_PERMANENT },
        { 409, NULL, false, false, BIDE_PERMANENT },
        { 422, "idempotency_mismatch", false, true, BIDE_PERMANENT },
        { 422, "idempotency_in_progress", false, false, BIDE_PERMANENT },
        { 400, "idempotency_missing", false, false, BIDE_PERMANENT },
        { 503, "idempotency_store", false, false, BIDE_TRANSIENT },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *reason = rows[i].reason ? rows[i].reason : "none";
        bide_header h[] = {
            { "X-Bide-Reason", 13, reason, strlen(reason) },
            H("Retry-After", "1"),
            H("Content-Type", "application/problem+json"),
            H("X-Bide-Retry", "no"),
        };
        bide_response r = { .status = rows[i].status,
                            .headers = h,
                            .n_headers = rows[i].refused ? 4 : 3,
                            .body = rows[i].by_body ? body : NULL,
                            .body_len = rows[i].by_body ? sizeof body - 1 : 0,
                            .wall_s = NOW };
        bide_outcome out = classify(&r);
        bool waits = rows[i].status == 409 && rows[i].cls == BIDE_TRANSIENT;

        assert_int_equal(out.cls, rows[i].cls);
        assert_int_equal(out.refused, rows[i].refused);
        assert_int_equal(out.not_processed, waits);
        assert_int_equal(out.refused_below, waits || rows[i].refused);
        assert_int_equal(out.hint_ns, S);
    }
}

static void classify_every_grpc_code_has_its_class(void **state)
{
    (void)state;
    for (int code = -2; code < 40; code++) {
        /* The HTTP status of gRPC is 200 even when it fails. */
        bide_response r = { .status = 200, .is_grpc = true,
                            .grpc_status = code };
        bide_class want = code == BIDE_GRPC_OK          ? BIDE_SUCCESS
                          : code == BIDE_GRPC_UNAVAILABLE ? BIDE_TRANSIENT
                          : code == BIDE_GRPC_RESOURCE_EXHAUSTED
                              ? BIDE_THROTTLED
                          : code == BIDE_GRPC_CANCELLED ? BIDE_IGNORED
                                                        : BIDE_PERMANENT;

        check_class(&r, want);
        assert_false(classify(&r).not_processed);
        r.status = 503; /* and does not count when it is not */
        check_class(&r, want);
    }
}

static void classify_every_fault_has_its_class(void **state)
{
    static const struct {
        bide_fault fault;
        bide_class cls;
        bool unsent; /* without being told */
    } rows[] = {
        { BIDE_FAULT_DNS, BIDE_TRANSIENT, true },
        { BIDE_FAULT_NO_HOST, BIDE_PERMANENT, true },
        { BIDE_FAULT_CONNECT, BIDE_TRANSIENT, true },
        { BIDE_FAULT_RESET, BIDE_TRANSIENT, false },
        { BIDE_FAULT_TIMEOUT, BIDE_TRANSIENT, false },
        { BIDE_FAULT_TLS, BIDE_PERMANENT, true },
        { BIDE_FAULT_URL, BIDE_PERMANENT, true },
        { BIDE_FAULT_MALFORMED, BIDE_PERMANENT, false },
        { BIDE_FAULT_LOCAL, BIDE_TRANSIENT, true },
        { BIDE_FAULT_CANCELLED, BIDE_IGNORED, false },
        { BIDE_FAULT_UPLOAD, BIDE_IGNORED, false },
        { BIDE_FAULT_CONNECTION_WAIT, BIDE_IGNORED, true },
        { BIDE_FAULT_TOO_LONG, BIDE_PERMANENT, false },
        { BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
        { BIDE_FAULT_REFUSED_STREAM, BIDE_TRANSIENT, true },
    };

    (void)state;
    assert_int_equal(COUNT(rows), BIDE_N_FAULTS - 1);
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int bits = 0; bits < 4; bits++) {
            bide_response r = { .fault = rows[i].fault,
                                .not_sent = bits & 1,
                                .is_grpc = bits & 2 };
            bide_outcome out = classify(&r);

            check_class(&r, rows[i].cls);
            assert_int_equal(out.fault, rows[i].fault);
            assert_int_equal(out.not_processed,
                             rows[i].unsent || r.not_sent);
        }
}

static void classify_unknown_fault_is_other(void **state)
{
    static const int none[] = { BIDE_N_FAULTS, 31, 32, 1000, -1, INT_MIN };

    (void)state;
    for (size_t i = 0; i < COUNT(none); i++) {
        bide_response r = { .fault = (bide_fault)none[i] };

        check_class(&r, BIDE_PERMANENT);
        assert_int_equal(classify(&r).fault, BIDE_FAULT_OTHER);
        assert_false(classify(&r).not_processed);
    }
}

static void classify_broken_answer_goes_by_a_failed_status(void **state)
{
    static const struct {
        int status;
        bide_fault fault;
        bide_class cls;
    } rows[] = {
        { 200, BIDE_FAULT_RESET, BIDE_TRANSIENT },
        { 200, BIDE_FAULT_TIMEOUT, BIDE_TRANSIENT },
        { 200, BIDE_FAULT_MALFORMED, BIDE_PERMANENT },
        { 304, BIDE_FAULT_RESET, BIDE_TRANSIENT },
        { 101, BIDE_FAULT_RESET, BIDE_TRANSIENT },
        { 100, BIDE_FAULT_TIMEOUT, BIDE_TRANSIENT },
        { 399, BIDE_FAULT_RESET, BIDE_TRANSIENT },
        { 400, BIDE_FAULT_RESET, BIDE_PERMANENT },
        { 404, BIDE_FAULT_TIMEOUT, BIDE_PERMANENT },
        { 429, BIDE_FAULT_RESET, BIDE_THROTTLED },
        { 503, BIDE_FAULT_MALFORMED, BIDE_TRANSIENT },
        { 600, BIDE_FAULT_RESET, BIDE_PERMANENT },
        /* The caller's wish is not the server's answer. */
        { 200, BIDE_FAULT_CANCELLED, BIDE_IGNORED },
        { 503, BIDE_FAULT_CANCELLED, BIDE_IGNORED },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_response r = { .status = rows[i].status, .fault = rows[i].fault,
                            .not_sent = true };

        check_class(&r, rows[i].cls);
        assert_int_equal(classify(&r).fault, rows[i].fault);
        assert_false(classify(&r).not_processed);
    }
}

static void classify_grpc_with_a_fault_goes_by_the_fault(void **state)
{
    bide_response r = { .status = 503, .fault = BIDE_FAULT_TLS,
                        .is_grpc = true,
                        .grpc_status = BIDE_GRPC_UNAVAILABLE };

    (void)state;
    check_class(&r, BIDE_PERMANENT);
    r.fault = BIDE_FAULT_RESET;
    r.grpc_status = BIDE_GRPC_OK;
    check_class(&r, BIDE_TRANSIENT);
}

static void classify_without_a_response_is_permanent(void **state)
{
    bide_outcome out = classify(NULL);

    (void)state;
    assert_int_equal(out.cls, BIDE_PERMANENT);
    assert_int_equal(out.fault, BIDE_FAULT_OTHER);
    assert_false(out.not_processed);
}

/* One answer with one header field. */
static bide_outcome with_header(bide_response r, const char *name,
                                const char *value)
{
    bide_header h = { name, strlen(name), value, strlen(value) };

    r.headers = &h;
    r.n_headers = 1;
    return classify(&r);
}

static void classify_refused_means_overload_where_load_is_spoken_of(
    void **state)
{
    static const struct {
        bide_response r;
        bide_class cls;
        bool refused;
    } rows[] = {
        { { .status = 503 }, BIDE_OVERLOADED, true },
        { { .status = 429 }, BIDE_OVERLOADED, true },
        { { .status = 503, .fault = BIDE_FAULT_RESET }, BIDE_OVERLOADED, true },
        { { .status = 500 }, BIDE_TRANSIENT, true },
        { { .status = 425 }, BIDE_TRANSIENT, true },
        { { .status = 404 }, BIDE_PERMANENT, true },
        { { .status = 200 }, BIDE_SUCCESS, false },
        { { .status = 301 }, BIDE_SUCCESS, false },
        { { .status = 200, .fault = BIDE_FAULT_RESET }, BIDE_TRANSIENT, true },
        { { .status = 503, .fault = BIDE_FAULT_CANCELLED },
          BIDE_IGNORED, false },
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_RESOURCE_EXHAUSTED },
          BIDE_OVERLOADED, true },
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_UNAVAILABLE },
          BIDE_TRANSIENT, true },
        { { .status = 503, .is_grpc = true,
            .grpc_status = BIDE_GRPC_UNAVAILABLE }, BIDE_TRANSIENT, true },
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_RESOURCE_EXHAUSTED,
            .fault = BIDE_FAULT_RESET }, BIDE_TRANSIENT, true },
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_OK },
          BIDE_SUCCESS, false },
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_CANCELLED },
          BIDE_IGNORED, false },
    };
    static const char *const forms[][2] = {
        { "X-Bide-Retry", "no" },
        { "x-should-retry", "False" },
        { "grpc-retry-pushback-ms", "-1" },
        { "grpc-retry-pushback-ms", "?" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; k < COUNT(forms); k++) {
            bide_outcome out =
                with_header(rows[i].r, forms[k][0], forms[k][1]);

            if (out.cls != rows[i].cls || out.refused != rows[i].refused)
                fail_msg("row %zu, %s: %s, %d", i, forms[k][0],
                         bide_class_name(out.cls), out.refused);
            assert_false(out.hinted);
        }
}

static void classify_hint_is_read_for_failures_only(void **state)
{
    static const struct {
        int status;
        bool hinted;
    } rows[] = { { 200, false }, { 301, false }, { 304, false },
                 { 404, true },  { 429, true },  { 500, true },
                 { 503, true } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_response r = { .status = rows[i].status };
        bide_outcome out = with_header(r, "Retry-After", "120");

        assert_int_equal(out.hinted, rows[i].hinted);
        assert_true(out.hint_ns == (rows[i].hinted ? 120 * S : 0));
    }
}

static void classify_hint_of_zero_is_a_hint(void **state)
{
    bide_response r = { .status = 503, .wall_s = NOW };
    bide_outcome out =
        with_header(r, "Retry-After", "Sun, 06 Nov 1994 08:49:00 GMT");

    (void)state;
    assert_true(out.hinted);
    assert_true(out.hint_ns == 0);
    out = with_header(r, "Retry-After", "soon");
    assert_false(out.hinted);
}

static void classify_ratelimit_counts_only_if_throttled(void **state)
{
    static const struct {
        bide_response r;
        bool hinted;
    } rows[] = {
        { { .status = 429 }, true },
        { { .status = 503 }, false },
        { { .status = 500 }, false },
        { { .status = 403 }, false },
        { { .status = 200 }, false },
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_RESOURCE_EXHAUSTED },
          true },
        { { .is_grpc = true, .grpc_status = BIDE_GRPC_UNAVAILABLE }, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_outcome out = with_header(rows[i].r, "X-RateLimit-Reset", "60");

        assert_int_equal(out.hinted, rows[i].hinted);
        assert_true(out.hint_ns == (rows[i].hinted ? 60 * S : 0));
    }
}

static void classify_retry_after_beats_ratelimit(void **state)
{
    static const bide_header h[] = { H("RateLimit-Reset", "3600"),
                                     H("Retry-After", "5") };
    bide_response r = { .status = 429, .headers = h, .n_headers = 2 };

    (void)state;
    assert_true(classify(&r).hint_ns == 5 * S);
    r.status = 503;
    assert_true(classify(&r).hint_ns == 5 * S);
}

static void classify_date_is_read_by_the_best_clock(void **state)
{
    static const bide_header both[] = {
        H("Retry-After", "Sun, 06 Nov 1994 08:51:37 GMT"),
        H("Server", "x"),
        { NULL, 4, "Sun, 06 Nov 1994 08:00:00 GMT", 29 },
        H("Date", "yesterday"),
        { "Date", 4, NULL, 29 },
        H("DATE", " Sun, 06 Nov 1994 08:51:07 GMT "),
        H("Date", "Sun, 06 Nov 1994 08:51:36 GMT"),
    };
    static const bide_header old[] = {
        H("Date", "Sunday, 06-Nov-94 08:51:07 GMT"),
        H("Retry-After", "Sunday, 06-Nov-94 08:51:37 GMT"),
    };
    bide_response r = { .status = 503, .headers = both,
                        .n_headers = COUNT(both), .wall_s = NOW };

    (void)state;
    assert_true(classify(&r).hint_ns == 120 * S); /* ours */
    r.wall_s = 0;
    assert_true(classify(&r).hint_ns == 30 * S); /* theirs */
    r.wall_s = -5;
    assert_true(classify(&r).hint_ns == 30 * S);
    r.n_headers = 5; /* none */
    r.wall_s = 0;
    assert_false(classify(&r).hinted);
    r.headers = old;
    r.n_headers = 2;
    assert_true(classify(&r).hint_ns == 30 * S);
}

static void classify_problem_is_read_if_it_may_be_one(void **state)
{
    static const struct {
        const char *content_type; /* NULL: no such field */
        bool read;
    } rows[] = {
        { NULL, true },
        { "application/problem+json", true },
        { "Application/Problem+JSON", true },
        { " application/problem+json ", true },
        { "application/problem+json;charset=utf-8", true },
        { "application/problem+json \t; charset=utf-8", true },
        { "application/problem+json;", true },
        { "application/problem+jsonx", false },
        { "application/problem+json x", false },
        { "application/problem+json, text/html", false },
        { "application/problem+jso", false },
        { "application/problem+xml", false },
        { "application/json", false },
        { "text/html", false },
        { "", false },
    };
    static const char body[] = "{\"retry_after\":9,\"retryable\":false}";

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *type = rows[i].content_type;
        bide_response r = { .status = 503, .body = body,
                            .body_len = sizeof body - 1 };
        bide_outcome out =
            with_header(r, type ? "Content-Type" : "Server", type ? type : "");

        if (out.refused != rows[i].read || out.hinted != rows[i].read)
            fail_msg("%s", type ? type : "(none)");
        assert_int_equal(out.cls,
                         rows[i].read ? BIDE_OVERLOADED : BIDE_TRANSIENT);
        assert_true(out.hint_ns == (rows[i].read ? 9 * S : 0));
    }
}

static void classify_problem_among_several_types_is_read(void **state)
{
    static const char body[] = "{\"retry_after\":9}";
    static const bide_header h[] = { H("content-type", "text/html"),
                                     { NULL, 12, "text/html", 9 },
                                     H("content-type",
                                       "application/problem+json") };
    bide_response r = { .status = 500, .headers = h, .n_headers = 3,
                        .body = body, .body_len = sizeof body - 1 };

    (void)state;
    assert_true(classify(&r).hint_ns == 9 * S);
    r.n_headers = 2;
    assert_false(classify(&r).hinted);
}

static void classify_problem_ranks_below_retry_after(void **state)
{
    static const struct {
        const char *name;
        int64_t want_s;
    } rows[] = { { "Retry-After", 5 }, { "X-RateLimit-Reset", 9 } };
    static const char body[] = "{\"retry_after\":9}";
    bide_response r = { .status = 429, .body = body,
                        .body_len = sizeof body - 1 };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_true(with_header(r, rows[i].name, "5").hint_ns ==
                    rows[i].want_s * S);
    /* and it is no RateLimit field: it counts for any failure */
    r.status = 500;
    assert_true(with_header(r, "X-RateLimit-Reset", "5").hint_ns == 9 * S);
}

static void classify_hostile_body_is_not_there(void **state)
{
    static const char cut[] = "{\"retry_after\":9,\"retryable\":fal";
    bide_response r = { .status = 503, .body = cut,
                        .body_len = sizeof cut - 1 };

    (void)state;
    assert_false(classify(&r).hinted);
    assert_false(classify(&r).refused);
    r.body_len = 0;
    assert_false(classify(&r).hinted);
    r.body = NULL;
    r.body_len = 5;
    assert_false(classify(&r).hinted);
    r.body = cut;
    r.body_len = SIZE_MAX;
    assert_false(classify(&r).hinted);
}

static void classify_missing_headers_are_harmless(void **state)
{
    static const bide_header empty = { NULL, 0, NULL, 0 };
    bide_response r = { .status = 503, .headers = NULL, .n_headers = 7 };

    (void)state;
    check_class(&r, BIDE_TRANSIENT);
    r.headers = &empty;
    r.n_headers = 1;
    check_class(&r, BIDE_TRANSIENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classify_every_status_has_its_class),
        cmocka_unit_test(classify_keys_in_progress_are_waited_for),
        cmocka_unit_test(classify_every_grpc_code_has_its_class),
        cmocka_unit_test(classify_every_fault_has_its_class),
        cmocka_unit_test(classify_unknown_fault_is_other),
        cmocka_unit_test(classify_broken_answer_goes_by_a_failed_status),
        cmocka_unit_test(classify_grpc_with_a_fault_goes_by_the_fault),
        cmocka_unit_test(classify_without_a_response_is_permanent),
        cmocka_unit_test(
            classify_refused_means_overload_where_load_is_spoken_of),
        cmocka_unit_test(classify_hint_is_read_for_failures_only),
        cmocka_unit_test(classify_hint_of_zero_is_a_hint),
        cmocka_unit_test(classify_ratelimit_counts_only_if_throttled),
        cmocka_unit_test(classify_retry_after_beats_ratelimit),
        cmocka_unit_test(classify_date_is_read_by_the_best_clock),
        cmocka_unit_test(classify_problem_is_read_if_it_may_be_one),
        cmocka_unit_test(classify_problem_among_several_types_is_read),
        cmocka_unit_test(classify_problem_ranks_below_retry_after),
        cmocka_unit_test(classify_hostile_body_is_not_there),
        cmocka_unit_test(classify_missing_headers_are_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
