/* httpdate.c: the three forms of an HTTP-date (RFC 9110, 5.6.7).
 *
 *     Sun, 06 Nov 1994 08:49:37 GMT      what is sent today
 *     Sunday, 06-Nov-94 08:49:37 GMT     RFC 850
 *     Sun Nov  6 08:49:37 1994           asctime()
 *
 * strptime() reads the locale, timegm() is not C11, and both forgive what they
 * should not. A date decides how long a client stays away, so this is strict:
 * one letter off, and it is no date. Only the name of the weekday is not held
 * against the date, since servers get that wrong, and nothing depends on it.
 *
 * The cursor keeps its failure: each form reads as one straight line, and is
 * asked once, at the end, whether all of it was there. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bide/error.h"
#include "bide/hint.h"

#include "lib/ascii.h"

typedef struct cursor {
    const char *at;
    const char *end;
    bool ok;
} cursor;

typedef struct civil {
    int year;
    int month; /* 1 .. 12 */
    int day;
    int hour;
    int minute;
    int second;
} civil;

static const char *const months[] = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun",
    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
};

static const char *const short_days[] = { "Mon", "Tue", "Wed", "Thu",
                                          "Fri", "Sat", "Sun" };

static const char *const long_days[] = { "Monday",   "Tuesday", "Wednesday",
                                         "Thursday", "Friday",  "Saturday",
                                         "Sunday" };

static bool take(cursor *c, const char *text)
{
    size_t len = strlen(text);

    if (!c->ok || (size_t)(c->end - c->at) < len ||
        memcmp(c->at, text, len) != 0)
        return false;
    c->at += len;
    return true;
}

static void expect(cursor *c, const char *text)
{
    c->ok = take(c, text);
}

/* Reads exactly `digits` digits. */
static int number(cursor *c, int digits)
{
    int value = 0;

    for (; digits > 0; digits--) {
        c->ok = c->ok && c->at < c->end && bide__is_digit(*c->at);
        if (!c->ok)
            return 0;
        value = value * 10 + (*c->at++ - '0');
    }
    return value;
}

/* Reads one of n names; the first is 1. */
static int name(cursor *c, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (take(c, names[i]))
            return i + 1;
    c->ok = false;
    return 0;
}

static void clock_time(cursor *c, civil *d)
{
    d->hour = number(c, 2);
    expect(c, ":");
    d->minute = number(c, 2);
    expect(c, ":");
    d->second = number(c, 2);
}

static bool leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days since 1970-01-01. Years begin in March here, so that the leap day is the
 * last of its year and (153 m + 2) / 5 days lie before month m. One era of 400
 * years is added and taken off again: no division sees a negative number. */
static int64_t days(const civil *d)
{
    int64_t y = d->year + 400 - (d->month <= 2 ? 1 : 0);
    int64_t m = (d->month + 9) % 12;

    return y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + d->day -
           1 - (INT64_C(719468) + 146097);
}

static int64_t seconds(const civil *d)
{
    return days(d) * 86400 + d->hour * 3600 + d->minute * 60 + d->second;
}

/* Gives a two-digit year its century: the last one that does not put the date
 * more than 50 years ahead of now. Where now is not known, it is 2020. */
static void find_century(civil *d, int64_t wall_s)
{
    const int64_t year_2020_s = 1577836800, year_9999_s = 253370764800;
    const int64_t fifty_years_s = 1577847600; /* Gregorian mean */
    int64_t limit_s = wall_s <= 0 ? year_2020_s : wall_s;

    limit_s = limit_s < year_9999_s ? limit_s : year_9999_s;
    limit_s += fifty_years_s;
    for (d->year += 2000; seconds(d) <= limit_s; d->year += 100)
        ;
    d->year -= 100;
}

static void imf_fixdate(cursor *c, civil *d)
{
    name(c, short_days, 7);
    expect(c, ", ");
    d->day = number(c, 2);
    expect(c, " ");
    d->month = name(c, months, 12);
    expect(c, " ");
    d->year = number(c, 4);
    expect(c, " ");
    clock_time(c, d);
    expect(c, " GMT");
}

static void rfc850_date(cursor *c, civil *d, int64_t wall_s)
{
    name(c, long_days, 7);
    expect(c, ", ");
    d->day = number(c, 2);
    expect(c, "-");
    d->month = name(c, months, 12);
    expect(c, "-");
    d->year = number(c, 2);
    expect(c, " ");
    clock_time(c, d);
    expect(c, " GMT");
    find_century(d, wall_s);
}

static void asctime_date(cursor *c, civil *d)
{
    name(c, short_days, 7);
    expect(c, " ");
    d->month = name(c, months, 12);
    expect(c, " ");
    d->day = number(c, take(c, " ") ? 1 : 2);
    expect(c, " ");
    clock_time(c, d);
    expect(c, " ");
    d->year = number(c, 4);
}

/* A leap second is taken as the first second of the next minute. */
static bool exists(const civil *d)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30,
                                   31, 31, 30, 31, 30, 31 };
    int last = lengths[d->month - 1] + (d->month == 2 && leap(d->year) ? 1 : 0);

    return d->day >= 1 && d->day <= last && d->hour <= 23 && d->minute <= 59 &&
           d->second <= 60;
}

int bide_http_date(const char *text, size_t len, int64_t wall_s, int64_t *ret_s)
{
    cursor c;
    civil d = { 0, 0, 0, 0, 0, 0 };

    if (!text || !ret_s)
        return BIDE_EINVAL;
    c = (cursor){ text, text + len, len > 3 };
    if (!c.ok)
        return BIDE_EPARSE;
    if (text[3] == ',')
        imf_fixdate(&c, &d);
    else if (text[3] == ' ')
        asctime_date(&c, &d);
    else
        rfc850_date(&c, &d, wall_s);
    if (!c.ok || c.at != c.end || !exists(&d))
        return BIDE_EPARSE;
    *ret_s = seconds(&d);
    return 0;
}
