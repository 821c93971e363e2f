/* test_httpdate.c: dates in all three forms, and what only looks like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bide/error.h"
#include "bide/hint.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define NOV_1994 INT64_C(784111777) /* 1994-11-06 08:49:37 */
#define Y2026 INT64_C(1767225600)

static void check(const char *text, size_t len, int64_t wall_s, int64_t want_s)
{
    int64_t got = 42;
    int rc = bide_http_date(text, len, wall_s, &got);

    if (rc != 0 || got != want_s)
        fail_msg("\"%.*s\" at %lld: rc %d, %lld instead of %lld", (int)len,
                 text, (long long)wall_s, rc, (long long)got,
                 (long long)want_s);
}

static void check_refused(const char *text, size_t len)
{
    int64_t got = 42;
    int rc = bide_http_date(text, len, Y2026, &got);

    if (rc != BIDE_EPARSE || got != 42)
        fail_msg("\"%.*s\": rc %d, %lld", (int)len, text, rc, (long long)got);
}

static void date_of_each_form_is_read(void **state)
{
    static const struct {
        const char *text;
        int64_t want_s;
    } rows[] = {
        { "Sun, 06 Nov 1994 08:49:37 GMT", NOV_1994 },
        { "Sunday, 06-Nov-94 08:49:37 GMT", NOV_1994 },
        { "Sun Nov  6 08:49:37 1994", NOV_1994 },
        { "Sun Nov 06 08:49:37 1994", NOV_1994 }, /* the grammar has it */
        { "Wed Nov 16 08:49:37 1994", NOV_1994 + 10 * 86400 },
        { "Thu, 01 Jan 1970 00:00:00 GMT", 0 },
        { "Wed, 31 Dec 1969 23:59:59 GMT", -1 },
        { "Tue, 19 Jan 2038 03:14:08 GMT", INT64_C(2147483648) },
        { "Tue, 29 Feb 2000 12:00:00 GMT", INT64_C(951825600) },
        { "Thu, 29 Feb 2024 00:00:00 GMT", INT64_C(1709164800) },
        { "Fri, 31 Dec 9999 23:59:59 GMT", INT64_C(253402300799) },
        { "Sat, 01 Jan 0000 00:00:00 GMT", INT64_C(-62167219200) },
        { "Tue, 29 Feb 0000 00:00:00 GMT", INT64_C(-62162121600) },
        { "Sat, 31 Dec 2016 23:59:60 GMT", INT64_C(1483228800) },
        { "Fri, 31 Dec 9999 23:59:60 GMT", INT64_C(253402300800) },
        /* The weekday is a name, and no more than that. */
        { "Mon, 06 Nov 1994 08:49:37 GMT", NOV_1994 },
        { "Wednesday, 06-Nov-94 08:49:37 GMT", NOV_1994 },
        { "Sat Nov  6 08:49:37 1994", NOV_1994 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check(rows[i].text, strlen(rows[i].text), Y2026, rows[i].want_s);
}

static void date_of_all_names_is_read(void **state)
{
    static const char *const days[] = { "Monday", "Tuesday",  "Wednesday",
                                        "Thursday", "Friday", "Saturday",
                                        "Sunday" };
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr",
                                          "May", "Jun", "Jul", "Aug",
                                          "Sep", "Oct", "Nov", "Dec" };
    static const int before[] = { 0,   31,  59,  90,  120, 151,
                                  181, 212, 243, 273, 304, 334 };
    char text[64];

    (void)state;
    for (size_t d = 0; d < 7; d++)
        for (size_t m = 0; m < 12; m++) {
            snprintf(text, sizeof text, "%s, 01-%s-70 00:00:00 GMT", days[d],
                     months[m]);
            check(text, strlen(text), 1, before[m] * INT64_C(86400));
            snprintf(text, sizeof text, "%.3s, 01 %s 1970 00:00:00 GMT",
                     days[d], months[m]);
            check(text, strlen(text), 1, before[m] * INT64_C(86400));
        }
}

static void date_malformed_is_refused(void **state)
{
    static const char *const rows[] = {
        "", "S", "Sun", "Sun,", "Sun ", "Sunday",
        "Sun, 06 Nov 1994 08:49:37",      "Sun, 06 Nov 1994 08:49:37 GM",
        "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC",  "Sun, 06 Nov 1994 08:49:37 gmt",
        "Sun, 06 Nov 1994 08:49:37 +0000", "sun, 06 Nov 1994 08:49:37 GMT",
        "SUN, 06 Nov 1994 08:49:37 GMT",  "Sun, 06 NOV 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT",  "Sun, 06 Foo 1994 08:49:37 GMT",
        "Foo, 06 Nov 1994 08:49:37 GMT",  "Sun,06 Nov 1994 08:49:37 GMT",
        "Sun,  6 Nov 1994 08:49:37 GMT",  "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 006 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT",  "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Nov 01994 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT",
        "Sun, 06 Nov +994 08:49:37 GMT",  "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT",     "Sun, 06 Nov 1994 08.49.37 GMT",
        "Sun, 06 Nov 1994 08:49:37.5 GMT", "Sun, 06 Nov 1994T08:49:37 GMT",
        "Sun, 06 Nov 199x 08:49:37 GMT",  "Sun, 0x Nov 1994 08:49:37 GMT",
        /* out of range */
        "Sun, 00 Nov 1994 08:49:37 GMT",  "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 32 Jan 1994 08:49:37 GMT",  "Sun, 29 Feb 1994 08:49:37 GMT",
        "Sun, 30 Feb 2024 08:49:37 GMT",  "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 29 Feb 2100 08:49:37 GMT",  "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",  "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 31 Apr 1994 08:49:37 GMT",  "Sun, 31 Jun 1994 08:49:37 GMT",
        "Sun, 31 Sep 1994 08:49:37 GMT",
        /* RFC 850 */
        "Sun, 06-Nov-94 08:49:37 GMT",    "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06-Nov-9 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37",     "Sunday 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMTx", "Sunday, 29-Feb-23 08:49:37 GMT",
        "sunday, 06-Nov-94 08:49:37 GMT", "Someday, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nox-94 08:49:37 GMT", "Sunday, 06-Nov-94 25:49:37 GMT",
        /* asctime */
        "Sun Nov 6 08:49:37 1994",        "Sun Nov   6 08:49:37 1994",
        "Sun Nov  6 08:49:37 1994 GMT",   "Sun Nov  6 08:49:37 94",
        "Sun Nov  6 08:49:37 19940",      "Sun Nov  6 08:49:37 1994\n",
        "Sun Nov  0 08:49:37 1994",       "Sun Nov 31 08:49:37 1994",
        "Sun Feb 29 08:49:37 1994",       "Sun  Nov 6 08:49:37 1994",
        "Sunday Nov  6 08:49:37 1994",
        /* others */
        "1994-11-06T08:49:37Z", "120", "tomorrow", "Sun, ",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check_refused(rows[i], strlen(rows[i]));
}

static void date_cut_off_anywhere_is_refused(void **state)
{
    static const char *const whole[] = { "Sun, 06 Nov 1994 08:49:37 GMT",
                                         "Sunday, 06-Nov-94 08:49:37 GMT",
                                         "Sun Nov  6 08:49:37 1994" };

    (void)state;
    for (size_t i = 0; i < COUNT(whole); i++)
        for (size_t len = 0; len < strlen(whole[i]); len++)
            check_refused(whole[i], len);
}

static void date_with_a_hostile_byte_is_refused(void **state)
{
    static const char bad[] = { '\0', '\n', '\r', '\t', 0x7f, (char)0x80,
                                (char)0xff, '%', '+', '-' };
    char text[] = "Sun, 06 Nov 1994 08:49:37 GMT";
    const size_t len = sizeof text - 1;

    (void)state;
    for (size_t i = 0; i < len; i++)
        for (size_t k = 0; k < sizeof bad; k++) {
            char was = text[i];

            text[i] = bad[k];
            check_refused(text, len);
            text[i] = was;
        }
}

static void date_of_two_digits_finds_its_century(void **state)
{
    static const struct {
        const char *text;
        int64_t wall_s;
        const char *same; /* as with four digits */
    } rows[] = {
        { "Sunday, 06-Nov-94 08:49:37 GMT", Y2026,
          "Sun, 06 Nov 1994 08:49:37 GMT" },
        { "Friday, 01-Jan-27 00:00:00 GMT", Y2026,
          "Fri, 01 Jan 2027 00:00:00 GMT" },
        /* 50 years ahead of the first second of 2026, and a day more */
        { "Wednesday, 01-Jan-76 00:00:00 GMT", Y2026,
          "Wed, 01 Jan 2076 00:00:00 GMT" },
        { "Friday, 03-Jan-76 00:00:00 GMT", Y2026,
          "Sat, 03 Jan 1976 00:00:00 GMT" },
        { "Friday, 31-Dec-99 23:59:59 GMT", Y2026,
          "Fri, 31 Dec 1999 23:59:59 GMT" },
        { "Saturday, 01-Jan-00 00:00:00 GMT", Y2026,
          "Sat, 01 Jan 2000 00:00:00 GMT" },
        { "Tuesday, 29-Feb-00 00:00:00 GMT", Y2026,
          "Tue, 29 Feb 2000 00:00:00 GMT" },
        /* near the end of a century the next one is meant */
        { "Wednesday, 01-Jan-10 00:00:00 GMT", INT64_C(3786912000), /* 2090 */
          "Wed, 01 Jan 2110 00:00:00 GMT" },
        /* a clock at its beginning, and none at all */
        { "Thursday, 01-Jan-70 00:00:00 GMT", 1,
          "Thu, 01 Jan 1970 00:00:00 GMT" },
        { "Thursday, 31-Dec-20 00:00:00 GMT", 1,
          "Fri, 31 Dec 1920 00:00:00 GMT" },
        { "Thursday, 01-Jan-26 00:00:00 GMT", 0,
          "Thu, 01 Jan 2026 00:00:00 GMT" },
        { "Thursday, 01-Jan-69 00:00:00 GMT", 0,
          "Tue, 01 Jan 2069 00:00:00 GMT" },
        { "Thursday, 01-Jan-71 00:00:00 GMT", 0,
          "Fri, 01 Jan 1971 00:00:00 GMT" },
        { "Thursday, 01-Jan-26 00:00:00 GMT", INT64_MIN,
          "Thu, 01 Jan 2026 00:00:00 GMT" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t want = 0;

        assert_int_equal(bide_http_date(rows[i].same, strlen(rows[i].same), 0,
                                        &want), 0);
        check(rows[i].text, strlen(rows[i].text), rows[i].wall_s, want);
    }
}

/* 00 is 2000 today and 2100 in 2090, and only 2000 is a leap year. */
static void date_of_two_digits_minds_the_leap_year_of_its_century(void **state)
{
    const char *leap = "Monday, 29-Feb-00 00:00:00 GMT";
    int64_t got = 42;

    (void)state;
    assert_int_equal(
        bide_http_date(leap, strlen(leap), INT64_C(3786912000), &got),
        BIDE_EPARSE);
    assert_int_equal(got, 42);
}

/* Such a clock is taken for the year 9999. */
static void date_with_a_mad_clock_does_not_overflow(void **state)
{
    const char *text = "Thursday, 01-Jan-26 00:00:00 GMT";
    const int64_t year_10026 = INT64_C(254222841600);

    (void)state;
    check(text, strlen(text), INT64_C(253370764800), year_10026);
    check(text, strlen(text), INT64_MAX, year_10026);
}

static void date_without_arguments_is_refused(void **state)
{
    int64_t got = 42;

    (void)state;
    assert_int_equal(bide_http_date(NULL, 0, 0, &got), BIDE_EINVAL);
    assert_int_equal(bide_http_date("x", 1, 0, NULL), BIDE_EINVAL);
    assert_int_equal(got, 42);
}

/* An independent calendar: it walks. */
struct day {
    int year, month, day, weekday; /* 1 .. 12, 1 .. 31, 0: Monday */
};

static int month_length(int year, int month)
{
    if (month == 2)
        return (year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)) ? 29
                                                                       : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static void next_day(struct day *d)
{
    d->weekday = (d->weekday + 1) % 7;
    if (++d->day <= month_length(d->year, d->month))
        return;
    d->day = 1;
    if (++d->month <= 12)
        return;
    d->month = 1;
    d->year++;
}

static void check_day(const struct day *d, int64_t start_s)
{
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr",
                                          "May", "Jun", "Jul", "Aug",
                                          "Sep", "Oct", "Nov", "Dec" };
    static const char *const days[] = { "Mon", "Tue", "Wed", "Thu",
                                        "Fri", "Sat", "Sun" };
    const char *weekday = days[d->weekday], *month = months[d->month - 1];
    int s = (int)((start_s / 86400 * 7919 % 86400 + 86400) % 86400);
    char text[64], time[16];

    snprintf(time, sizeof time, "%02d:%02d:%02d", s / 3600, s / 60 % 60,
             s % 60);
    snprintf(text, sizeof text, "%s, %02d %s %04d %s GMT", weekday, d->day,
             month, d->year, time);
    check(text, strlen(text), Y2026, start_s + s);
    snprintf(text, sizeof text, "%s %s %2d %s %04d", weekday, month, d->day,
             time, d->year);
    check(text, strlen(text), Y2026, start_s + s);
}

/* Every day of the calendar's cycle of 400 years around our own, and one in 97
 * of all from 0000 to 9999, each at a time of day that wanders. */
static void date_of_every_day_is_read(void **state)
{
    struct day d = { 0, 1, 1, 5 };
    int64_t start_s = INT64_C(-62167219200);

    (void)state;
    for (; d.year < 10000; next_day(&d), start_s += 86400)
        if ((d.year > 1800 && d.year <= 2200) || start_s / 86400 % 97 == 0)
            check_day(&d, start_s);
    assert_int_equal(d.weekday, 5); /* 400 years are whole weeks */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(date_of_each_form_is_read),
        cmocka_unit_test(date_of_all_names_is_read),
        cmocka_unit_test(date_malformed_is_refused),
        cmocka_unit_test(date_cut_off_anywhere_is_refused),
        cmocka_unit_test(date_with_a_hostile_byte_is_refused),
        cmocka_unit_test(date_of_two_digits_finds_its_century),
        cmocka_unit_test(date_of_two_digits_minds_the_leap_year_of_its_century),
        cmocka_unit_test(date_with_a_mad_clock_does_not_overflow),
        cmocka_unit_test(date_without_arguments_is_refused),
        cmocka_unit_test(date_of_every_day_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
