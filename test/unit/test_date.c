/* test_date.c: dates of logs, and days that there are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/date.h"
#include "bide/policy.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define NOV_2026     INT64_C(1794814800) /* 2026-11-16T07:40:00Z */

typedef bool reader(const char *, size_t, struct bide__instant *);

static void check(reader *read, const char *text, int64_t want_ns, size_t len)
{
    struct bide__instant got = { 0 };

    if (!read(text, strlen(text), &got) || got.ns != want_ns || got.len != len)
        fail_msg("\"%s\": %lld instead of %lld, %zu bytes", text,
                 (long long)got.ns, (long long)want_ns, got.len);
}

static void check_refused(reader *read, const char *text)
{
    struct bide__instant got = { .ns = 42 };

    if (read(text, strlen(text), &got) || got.ns != 42)
        fail_msg("\"%s\" is taken for %lld", text, (long long)got.ns);
}

static void date_of_rfc3339_is_read(void **state)
{
    static const struct {
        const char *text;
        int64_t want_ns;
        size_t len;
    } rows[] = {
        { "2026-11-16T07:40:00Z", NOV_2026 * BIDE_SECOND, 20 },
        { "2026-11-16t07:40:00z", NOV_2026 * BIDE_SECOND, 20 },
        { "2026-11-16 07:40:00", NOV_2026 * BIDE_SECOND, 19 },
        { "2026-11-16T08:40:00+01:00", NOV_2026 * BIDE_SECOND, 25 },
        { "2026-11-16T00:40:00-0700", NOV_2026 * BIDE_SECOND, 24 },
        { "2026-11-16T07:40:00.5Z", NOV_2026 * BIDE_SECOND + 500000000, 22 },
        { "2026-11-16T07:40:00,25Z", NOV_2026 * BIDE_SECOND + 250000000, 23 },
        { "2026-11-16T07:40:00.1234567891Z", NOV_2026 * BIDE_SECOND + 123456789,
          31 },
        { "2026-11-16T07:40:00Z GET /", NOV_2026 * BIDE_SECOND, 20 },
        { "2026-11-16T07:39:60Z", NOV_2026 * BIDE_SECOND, 20 },
        { "2024-02-29T00:00:00Z", INT64_C(1709164800) * BIDE_SECOND, 20 },
        { "2000-02-29T00:00:00Z", INT64_C(951782400) * BIDE_SECOND, 20 },
        { "1970-01-01T00:00:00Z", 0, 20 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check(bide__date_rfc3339, rows[i].text, rows[i].want_ns, rows[i].len);
}

static void date_tells_fraction_and_zone(void **state)
{
    struct bide__instant at;

    (void)state;
    assert_true(bide__date_rfc3339("2026-11-16T07:40:00.0Z", 22, &at));
    assert_true(!at.whole && at.zoned);
    assert_true(bide__date_rfc3339("2026-11-16T07:40:00", 19, &at));
    assert_true(at.whole && !at.zoned);
}

static void date_of_common_log_is_read(void **state)
{
    (void)state;
    check(bide__date_common, "16/Nov/2026:07:40:00 +0000",
          NOV_2026 * BIDE_SECOND, 26);
    check(bide__date_common, "16/Nov/2026:08:40:00 +0100] \"GET",
          NOV_2026 * BIDE_SECOND, 26);
    check(bide__date_common, "29/Feb/2024:00:00:00 +0000",
          INT64_C(1709164800) * BIDE_SECOND, 26);
}

/* The same days for each form: there is one calendar. */
static void date_that_does_not_exist_is_refused(void **state)
{
    static const char *const iso[] = {
        "2026-02-31T00:00:00Z", "2026-02-30T00:00:00Z", "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-32T00:00:00Z",
        "2026-01-00T00:00:00Z", "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z",
    };
    static const char *const common[] = {
        "31/Feb/2026:00:00:00 +0000", "30/Feb/2026:00:00:00 +0000",
        "29/Feb/2026:00:00:00 +0000", "29/Feb/2100:00:00:00 +0000",
        "31/Apr/2026:00:00:00 +0000", "32/Jan/2026:00:00:00 +0000",
        "00/Jan/2026:00:00:00 +0000", "01/Jax/2026:00:00:00 +0000",
        "01/Jan/2026:24:00:00 +0000", "01/Jan/2026:00:60:00 +0000",
        "01/Jan/2026:00:00:61 +0000",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(iso); i++)
        check_refused(bide__date_rfc3339, iso[i]);
    for (size_t i = 0; i < COUNT(common); i++)
        check_refused(bide__date_common, common[i]);
}

static void date_of_another_shape_is_refused(void **state)
{
    static const char *const iso[] = {
        "",
        "2026",
        "2026-1-02T03:04:05Z",
        "2026/01/02T03:04:05Z",
        "2026-01-02T03:04Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+01:60",
        "2026-01-02T03:04:05+1",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+00:01",
        "2201-01-01T00:00:00Z",
    };
    static const char *const common[] = {
        "16/Nov/2026 07:40:00 +0000", "16/nov/2026:07:40:00 +0000",
        "16/Nov/2026:07:40:00",       "16/Nov/2026:07:40:00 Z",
        "16/Nov/26:07:40:00 +0000",   "1/Nov/2026:07:40:00 +0000",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(iso); i++)
        check_refused(bide__date_rfc3339, iso[i]);
    for (size_t i = 0; i < COUNT(common); i++)
        check_refused(bide__date_common, common[i]);
}

/* Against the C library, day by day for four centuries. */
static void date_written_is_that_of_gmtime(void **state)
{
    char text[BIDE__DATE_TEXT], want[64];

    (void)state;
    for (int64_t s = 0; s < INT64_C(7289654400); s += 86400 - 7) {
        time_t t = (time_t)s;
        struct tm tm;

        gmtime_r(&t, &tm);
        strftime(want, sizeof want, "%Y-%m-%dT%H:%M:%S", &tm);
        assert_string_equal(bide__date_text(s, text), want);
        strftime(want, sizeof want, "%d/%b/%Y:%H:%M:%S +0000", &tm);
        assert_string_equal(bide__date_common_text(s, text), want);
        if (tm.tm_year + 1900 <= 2200)
            check(bide__date_common, text, s * BIDE_SECOND, 26);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(date_of_rfc3339_is_read),
        cmocka_unit_test(date_tells_fraction_and_zone),
        cmocka_unit_test(date_of_common_log_is_read),
        cmocka_unit_test(date_that_does_not_exist_is_refused),
        cmocka_unit_test(date_of_another_shape_is_refused),
        cmocka_unit_test(date_written_is_that_of_gmtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
