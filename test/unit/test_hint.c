/* test_hint.c: what header fields say about retrying. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bide/hint.h"
#include "bide/policy.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define NOW INT64_C(784111777) /* Sun, 06 Nov 1994 08:49:37 GMT */
#define MS BIDE_MILLISECOND
#define S BIDE_SECOND
#define NONE INT64_C(-1) /* no hint, not refused */
#define REFUSED INT64_C(-2)

static bide_header field(const char *name, const char *value)
{
    return (bide_header){ name, strlen(name), value, strlen(value) };
}

static void take(bide_hint *hint, const char *name, const char *value,
                 int64_t wall_s)
{
    bide_header h = field(name, value);

    bide_hint_header(hint, &h, wall_s);
}

static void check(const char *name, const char *value, size_t len,
                  int64_t wall_s, int64_t want)
{
    bide_hint hint = BIDE_HINT_INIT;
    bide_header h = { name, strlen(name), value, len };
    int64_t got;

    bide_hint_header(&hint, &h, wall_s);
    got = hint.source ? hint.wait_ns : hint.refused ? REFUSED : NONE;
    if (got != want || (hint.source && hint.refused))
        fail_msg("%s: \"%.*s\": %lld instead of %lld", name, (int)len, value,
                 (long long)got, (long long)want);
    if (hint.source)
        assert_string_equal(bide_hint_name(hint.source), name);
}

struct row {
    const char *value;
    int64_t want;
};

static void check_rows(const char *name, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(name, rows[i].value, strlen(rows[i].value), NOW, rows[i].want);
}

static void hint_retry_after_is_seconds_or_a_date(void **state)
{
    static const struct row rows[] = {
        { "0", 0 },
        { "1", S },
        { "120", 120 * S },
        { "000120", 120 * S },
        { " \t120\t ", 120 * S },
        { "9223372036", INT64_C(9223372036) * S },
        { "9223372037", INT64_MAX },
        { "18446744073709551615", INT64_MAX },
        { "18446744073709551616", INT64_MAX },
        { "18446744073709551617", INT64_MAX },
        { "99999999999999999999", INT64_MAX },
        { "00000000000000000000000000000000000000007", 7 * S },
        { "10000000000000000000000000000000000000000", INT64_MAX },
        { "Sun, 06 Nov 1994 08:49:38 GMT", S },
        { "Sun, 06 Nov 1994 08:51:37 GMT", 120 * S },
        { "  Sunday, 06-Nov-94 08:51:37 GMT ", 120 * S },
        { "Sun Nov  6 08:51:37 1994", 120 * S },
        { "Sun, 06 Nov 1994 08:49:37 GMT", 0 },
        { "Sun, 06 Nov 1994 08:49:36 GMT", 0 }, /* past: valid, no wait */
        { "Thu, 01 Jan 1970 00:00:00 GMT", 0 },
        { "Sat, 01 Jan 0000 00:00:00 GMT", 0 },
        { "Fri, 31 Dec 9999 23:59:59 GMT", INT64_MAX },
        { "", NONE },
        { " ", NONE },
        { "-1", NONE },
        { "-0", NONE },
        { "+5", NONE },
        { "1.5", NONE },
        { "1.", NONE },
        { ".5", NONE },
        { "1e3", NONE },
        { "0x10", NONE },
        { "120s", NONE },
        { "1 2", NONE },
        { "5, 6", NONE },
        { "5,6", NONE },
        { "5;q=1", NONE },
        { "\"5\"", NONE },
        { "soon", NONE },
        { "inf", NONE },
        { "nan", NONE },
        { "\n5", NONE },
        { "5\r\n", NONE },
        { "\xd9\xa5", NONE }, /* a digit, but not an ASCII one */
        { "Sun, 06 Nov 1994 08:51:37 UTC", NONE },
        { "1994-11-06T08:51:37Z", NONE },
    };

    (void)state;
    check_rows("retry-after", rows, COUNT(rows));
}

static void hint_in_milliseconds_takes_a_fraction(void **state)
{
    static const struct row rows[] = {
        { "0", 0 },
        { "1", MS },
        { "1234", 1234 * MS },
        { "1234.5", 1234500000 },
        { "0.000001", 1 },
        { "0.0000001", 1 }, /* rounds up: never shorter than asked for */
        { "0.0000000000000000000000000000000000000001", 1 },
        { "0.00000000000000000000000000", 0 },
        { "1.0000000", MS },
        { "9223372036854.775807", INT64_MAX },
        { "9223372036854.775806", INT64_MAX - 1 },
        { "9223372036854.7758051", INT64_MAX - 1 },
        { "9223372036854.775808", INT64_MAX },
        { "99999999999999999999999999.9", INT64_MAX },
        { " 20 ", 20 * MS },
        { "", NONE },
        { ".", NONE },
        { "1.", NONE },
        { ".5", NONE },
        { "1.2.3", NONE },
        { "1..2", NONE },
        { "1,5", NONE },
        { "-1", NONE },
        { "+1", NONE },
        { "1e3", NONE },
        { "100ms", NONE },
        { "Sun, 06 Nov 1994 08:51:37 GMT", NONE },
    };

    (void)state;
    check_rows("retry-after-ms", rows, COUNT(rows));
    check_rows("x-ms-retry-after-ms", rows, COUNT(rows));
}

static void hint_of_a_reset_is_relative_or_epoch(void **state)
{
    static const struct row rows[] = {
        { "0", 0 },
        { "60", 60 * S },
        { "0.5", S / 2 },
        { "999999999", 999999999 * S },
        { "1000000000", (1000000000 - NOW) * S }, /* an instant, from here */
        { "1000000000.25", (1000000000 - NOW) * S + S / 4 },
        { "9999999999", (INT64_C(9999999999) - NOW) * S },
        { "99999999999", INT64_MAX },
        { "100000000000", 0 }, /* milliseconds from here: 1973 */
        { "784111777000", 0 },
        { "784111777001", MS },
        { "784111776999", 0 },
        { "784111837000", 60 * S },
        { "253402300799999", INT64_MAX }, /* the last instant of 9999 */
        { "253402300800000", INT64_MAX },
        { "99999999999999999999", INT64_MAX },
        { "", NONE },
        { "-1", NONE },
        { "+1", NONE },
        { "60s", NONE },
        { "1m0s", NONE },
        { "60, 60", NONE },
        { "60;w=1", NONE },
        { "Sun, 06 Nov 1994 08:51:37 GMT", NONE },
    };

    (void)state;
    check_rows("ratelimit-reset", rows, COUNT(rows));
    check_rows("x-ratelimit-reset", rows, COUNT(rows));
}

static void hint_of_pushback_refuses_what_it_cannot_read(void **state)
{
    static const struct row rows[] = {
        { "0", 1 }, /* now */
        { "250", 250 * MS },
        { " 250 ", 250 * MS },
        { "2147483647", INT64_C(2147483647) * MS },
        { "99999999999999999999", INT64_MAX },
        { "-1", REFUSED },
        { "-0", REFUSED },
        { "-99999999999999999999", REFUSED },
        { "", REFUSED },
        { " ", REFUSED },
        { "+5", REFUSED },
        { "1.5", REFUSED },
        { "abc", REFUSED },
        { "5\n", REFUSED },
        { "5, 5", REFUSED },
    };

    (void)state;
    check_rows("grpc-retry-pushback-ms", rows, COUNT(rows));
}

/* Of draft-ietf-httpapi-ratelimit-headers: a quota that is used up says when it is
 * filled again. */
static void hint_of_a_rate_limit_is_its_empty_quota(void **state)
{
    static const struct row rows[] = {
        { "\"default\";r=0;t=30", 30 * S },
        { "default;r=0;t=30", 30 * S },
        { " \"a\" ; r=0 ; t=5 ", 5 * S },
        { "\"a\";t=5;r=0", 5 * S },
        { "\"a\";r=0;t=5, \"b\";r=0;t=60", 60 * S },
        { "\"a\";r=0;t=5, \"b\";r=9;t=60", 5 * S },
        { "\"a;r=0;t=9\";r=0;t=5", 5 * S },
        { "\"a,\\\"b\";r=0;t=5", 5 * S },
        { "\"a\";r=1;t=30", NONE },
        { "\"a\";r=0", NONE },
        { "\"a\";t=30", NONE },
        { "\"a\";r=-1;t=30", NONE },
        { "\"a\";r=0;t=-30", NONE },
        { "\"a\";r=0;t=1.5", NONE },
        { "\"a\";rr=0;t=30", NONE },
        { "\"a;r=0;t=30", NONE }, /* never closed */
        { "\"a\";r=0;t=99999999999999999999", INT64_MAX },
        { "30", NONE },
        { ";;;,,,", NONE },
        { "", NONE },
    };
    bide_hint hint = BIDE_HINT_INIT;

    (void)state;
    check_rows("ratelimit", rows, COUNT(rows));
    take(&hint, "RateLimit", rows[0].value, NOW);
    assert_true(hint.rate_limit_only);
    check("x-amz-retry-after", "1500", 4, NOW, 1500 * MS);
}

static void hint_of_a_bide_below_is_told_apart(void **state)
{
    bide_hint below = BIDE_HINT_INIT, server = BIDE_HINT_INIT;

    (void)state;
    take(&below, "X-Bide-Retry", "no", NOW);
    take(&server, "X-Should-Retry", "false", NOW);
    assert_true(below.refused && below.refused_below);
    assert_true(server.refused && !server.refused_below);
}

static void hint_of_refusal_is_its_word_only(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        int64_t want;
    } rows[] = {
        { "X-Bide-Retry", "no", REFUSED },
        { "x-bide-retry", " NO\t", REFUSED },
        { "X-BIDE-RETRY", "No", REFUSED },
        { "x-bide-retry", "yes", NONE },
        { "x-bide-retry", "none", NONE },
        { "x-bide-retry", "n", NONE },
        { "x-bide-retry", "", NONE },
        { "x-bide-retry", "false", NONE },
        { "X-Should-Retry", "false", REFUSED },
        { "x-should-retry", " FALSE ", REFUSED },
        { "x-should-retry", "true", NONE },
        { "x-should-retry", "no", NONE },
        { "x-should-retry", "", NONE },
        { "x-should-retryx", "false", NONE },
        { "x-should-retr", "false", NONE },
        { "retry", "no", NONE },
        { "", "no", NONE },
        { "none", "5", NONE },
        { "problem details", "5", NONE },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check(rows[i].name, rows[i].value, strlen(rows[i].value), NOW,
              rows[i].want);
}

static void hint_name_in_any_case_is_known(void **state)
{
    static const struct {
        const char *name;
        bide_hint_source want;
    } rows[] = {
        { "Retry-After", BIDE_HINT_RETRY_AFTER },
        { "RETRY-AFTER", BIDE_HINT_RETRY_AFTER },
        { "Retry-After-Ms", BIDE_HINT_RETRY_AFTER_MS },
        { "X-MS-Retry-After-MS", BIDE_HINT_MS_RETRY_AFTER_MS },
        { "RateLimit-Reset", BIDE_HINT_RATELIMIT_RESET },
        { "X-RateLimit-Reset", BIDE_HINT_X_RATELIMIT_RESET },
        { "X-Ratelimit-Reset", BIDE_HINT_X_RATELIMIT_RESET },
        { "GRPC-Retry-Pushback-Ms", BIDE_HINT_GRPC_PUSHBACK },
        { "Retry-After ", BIDE_HINT_NONE },
        { " Retry-After", BIDE_HINT_NONE },
        { "Retry_After", BIDE_HINT_NONE },
        { "Retry-Afte", BIDE_HINT_NONE },
        { "Retry-After-", BIDE_HINT_NONE },
        { "Retry\rAfter", BIDE_HINT_NONE }, /* '-' but for one bit */
        { "X-RateLimit-Reset-Requests", BIDE_HINT_NONE },
        { "RateLimit", BIDE_HINT_NONE },
        { "Date", BIDE_HINT_NONE },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_hint hint = BIDE_HINT_INIT;

        take(&hint, rows[i].name, "7", NOW);
        assert_int_equal(hint.source, rows[i].want);
        assert_false(hint.refused);
    }
}

static void hint_with_embedded_nul_is_invalid(void **state)
{
    (void)state;
    check("retry-after", "5\0", 2, NOW, NONE);
    check("retry-after", "\0" "5", 2, NOW, NONE);
    check("retry-after", "1\0" "5", 3, NOW, NONE);
    check("retry-after-ms", "5\0", 2, NOW, NONE);
    check("ratelimit-reset", "5\0", 2, NOW, NONE);
    check("x-bide-retry", "no\0", 3, NOW, NONE);
    check("grpc-retry-pushback-ms", "5\0", 2, NOW, REFUSED);
    /* and the length is believed, not a NUL that happens to follow */
    check("retry-after", "123456", 2, NOW, 12 * S);
}

static void hint_date_without_a_clock_is_invalid(void **state)
{
    static const int64_t unknown[] = { 0, -1, INT64_MIN };
    static const struct {
        const char *name;
        const char *value;
        int64_t want;
    } rows[] = {
        { "retry-after", "Sun, 06 Nov 1994 08:51:37 GMT", NONE },
        { "retry-after", "120", 120 * S },
        { "ratelimit-reset", "999999999", 999999999 * S },
        { "ratelimit-reset", "1000000000", NONE },
        { "ratelimit-reset", "784111837000", NONE },
        { "ratelimit-reset", "253402300800000", INT64_MAX },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; k < COUNT(unknown); k++)
            check(rows[i].name, rows[i].value, strlen(rows[i].value),
                  unknown[k], rows[i].want);
}

static void hint_date_with_a_mad_clock_is_past(void **state)
{
    const char *date = "Fri, 31 Dec 9999 23:59:59 GMT";

    (void)state;
    check("retry-after", date, strlen(date), INT64_MAX, 0);
    check("ratelimit-reset", "253402300799999", 15, INT64_MAX, 0);
    check("ratelimit-reset", "99999999999", 11, INT64_MAX, 0);
    /* 292 years and more do not fit into nanoseconds */
    check("retry-after", date, strlen(date), 1, INT64_MAX);
    check("retry-after", date, strlen(date), INT64_C(253402300798), S);
}

/* Fields in the order of BIDE_HINTS; each beats all that follow it. */
static const char *const by_rank[] = { "grpc-retry-pushback-ms",
                                       "retry-after-ms", "x-ms-retry-after-ms",
                                       "x-amz-retry-after", "retry-after",
                                       "ratelimit-reset", "x-ratelimit-reset" };

static void hint_more_precise_wins_in_any_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(by_rank); i++)
        for (size_t k = i + 1; k < COUNT(by_rank); k++) {
            bide_hint ab = BIDE_HINT_INIT, ba = BIDE_HINT_INIT;

            take(&ab, by_rank[i], "0", NOW);
            take(&ab, by_rank[k], "99", NOW);
            take(&ba, by_rank[k], "99", NOW);
            take(&ba, by_rank[i], "0", NOW);
            assert_string_equal(bide_hint_name(ab.source), by_rank[i]);
            assert_string_equal(bide_hint_name(ba.source), by_rank[i]);
            assert_true(ab.wait_ns <= 1 && ba.wait_ns <= 1);
            assert_int_equal(ab.rate_limit_only, i >= 5);
            assert_int_equal(ba.rate_limit_only, i >= 5);
        }
}

static void hint_repeated_gives_the_longer(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(by_rank); i++) {
        bide_hint hint = BIDE_HINT_INIT;
        bool ms = strstr(by_rank[i], "-ms") || strstr(by_rank[i], "amz");
        int64_t unit = ms ? MS : S;

        take(&hint, by_rank[i], "5", NOW);
        take(&hint, by_rank[i], "9", NOW);
        take(&hint, by_rank[i], "7", NOW);
        take(&hint, by_rank[i], "0", NOW);
        assert_true(hint.wait_ns == 9 * unit);
    }
}

static void hint_invalid_leaves_a_valid_one_alone(void **state)
{
    bide_hint hint = BIDE_HINT_INIT;

    (void)state;
    take(&hint, "retry-after", "5", NOW);
    take(&hint, "retry-after", "never", NOW);
    take(&hint, "retry-after-ms", "never", NOW);
    take(&hint, "server", "x", NOW);
    assert_int_equal(hint.source, BIDE_HINT_RETRY_AFTER);
    assert_true(hint.wait_ns == 5 * S);
    assert_false(hint.refused);
}

static void hint_refused_stays_refused(void **state)
{
    bide_hint hint = BIDE_HINT_INIT;

    (void)state;
    take(&hint, "grpc-retry-pushback-ms", "-1", NOW);
    take(&hint, "grpc-retry-pushback-ms", "5", NOW);
    take(&hint, "x-should-retry", "true", NOW);
    take(&hint, "x-bide-retry", "yes", NOW);
    assert_true(hint.refused);
    assert_true(hint.wait_ns == 5 * MS);
}

static void hint_without_arguments_is_harmless(void **state)
{
    bide_hint hint = BIDE_HINT_INIT;
    bide_header h = field("retry-after", "5");
    bide_header unnamed = { NULL, 11, "5", 1 };
    bide_header no_value = { "retry-after", 11, NULL, 5 };
    bide_header no_push = { "grpc-retry-pushback-ms", 22, NULL, 5 };

    (void)state;
    bide_hint_header(NULL, &h, NOW);
    bide_hint_header(&hint, NULL, NOW);
    bide_hint_header(&hint, &unnamed, NOW);
    bide_hint_header(&hint, &no_value, NOW);
    assert_int_equal(hint.source, BIDE_HINT_NONE);
    assert_false(hint.refused);
    bide_hint_header(&hint, &no_push, NOW);
    assert_true(hint.refused);
}

static void hint_name_of_a_number_that_is_none_is_null(void **state)
{
    (void)state;
    assert_string_equal(bide_hint_name(BIDE_HINT_NONE), "none");
    assert_string_equal(bide_hint_name(BIDE_HINT_PROBLEM), "problem details");
    assert_null(bide_hint_name(
        (bide_hint_source)(BIDE_HINT_X_RATELIMIT_RESET + 1)));
    assert_null(bide_hint_name((bide_hint_source)-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hint_retry_after_is_seconds_or_a_date),
        cmocka_unit_test(hint_in_milliseconds_takes_a_fraction),
        cmocka_unit_test(hint_of_a_reset_is_relative_or_epoch),
        cmocka_unit_test(hint_of_pushback_refuses_what_it_cannot_read),
        cmocka_unit_test(hint_of_a_rate_limit_is_its_empty_quota),
        cmocka_unit_test(hint_of_a_bide_below_is_told_apart),
        cmocka_unit_test(hint_of_refusal_is_its_word_only),
        cmocka_unit_test(hint_name_in_any_case_is_known),
        cmocka_unit_test(hint_with_embedded_nul_is_invalid),
        cmocka_unit_test(hint_date_without_a_clock_is_invalid),
        cmocka_unit_test(hint_date_with_a_mad_clock_is_past),
        cmocka_unit_test(hint_more_precise_wins_in_any_order),
        cmocka_unit_test(hint_repeated_gives_the_longer),
        cmocka_unit_test(hint_invalid_leaves_a_valid_one_alone),
        cmocka_unit_test(hint_refused_stays_refused),
        cmocka_unit_test(hint_without_arguments_is_harmless),
        cmocka_unit_test(hint_name_of_a_number_that_is_none_is_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
