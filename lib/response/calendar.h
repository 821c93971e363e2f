/* calendar.h: which days exist, and reading dates.
 *
 *     const char *text = "06 Nov 1994";
 *     struct bide__cursor c = { text, text + strlen(text), true };
 *     struct bide__date d = { 0 };
 *     d.day = bide__take_number(&c, 2);
 *     bide__expect(&c, " ");
 *     d.month = bide__take_month(&c);
 *     bide__expect(&c, " ");
 *     d.year = bide__take_number(&c, 4);
 *     if (c.ok && bide__date_exists(&d))
 *         return bide__date_seconds(&d);
 *
 * The project's only calendar: Gregorian, extended indefinitely in both
 * directions. strptime() and gmtime() read the locale or the time zone,
 * timegm() is not C11, and all accept what they should not: 31 February is
 * refused here. httpdate.c reads what servers send; base/date.c reads what logs
 * and files contain.
 *
 * The cursor remembers a failure, so a form reads as one straight line and is
 * checked once, at the end. */
#ifndef BIDE_LIB_RESPONSE_CALENDAR_H
#define BIDE_LIB_RESPONSE_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/ascii.h"

/* A date and a time of day, in UTC. Threads: owned. */
struct bide__date {
    int year;
    int month; /* 1 .. 12 */
    int day;   /* 1 .. 31 */
    int hour;
    int minute;
    int second; /* 60: a leap second, the first of the next minute */
};

/* ===== counting ===== */

static inline int bide__month_length(int year, int month)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30,
                                   31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return lengths[month - 1] + (month == 2 && leap ? 1 : 0);
}

static inline bool bide__date_exists(const struct bide__date *d)
{
    return d->month >= 1 && d->month <= 12 && d->day >= 1 &&
           d->day <= bide__month_length(d->year, d->month) && d->hour <= 23 &&
           d->minute <= 59 && d->second <= 60;
}

/* Days since 1970-01-01, for years from -399. Years begin in March here, so
 * that the leap day is the last of its year and (153 m + 2) / 5 days lie before
 * month m. One era of 400 years is added and subtracted again: no division sees
 * a negative number. */
static inline int64_t bide__date_days(const struct bide__date *d)
{
    int64_t y = d->year + 400 - (d->month <= 2 ? 1 : 0);
    int64_t m = (d->month + 9) % 12;

    return y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + d->day -
           1 - (INT64_C(719468) + 146097);
}

/* Seconds since 1970-01-01T00:00:00Z. */
static inline int64_t bide__date_seconds(const struct bide__date *d)
{
    return bide__date_days(d) * 86400 + d->hour * 3600 + d->minute * 60 +
           d->second;
}

/* ===== reading ===== */

/* Threads: owned. */
struct bide__cursor {
    const char *at;
    const char *end;
    bool ok;
};

/* Skips the text if it comes next. */
static inline bool bide__take(struct bide__cursor *c, const char *text)
{
    size_t len = strlen(text);

    if (!c->ok || (size_t)(c->end - c->at) < len ||
        memcmp(c->at, text, len) != 0)
        return false;
    c->at += len;
    return true;
}

static inline void bide__expect(struct bide__cursor *c, const char *text)
{
    c->ok = bide__take(c, text);
}

/* Reads exactly `digits` digits. */
static inline int bide__take_number(struct bide__cursor *c, int digits)
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
static inline int bide__take_name(struct bide__cursor *c,
                                  const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (bide__take(c, names[i]))
            return i + 1;
    c->ok = false;
    return 0;
}

/* "Jan" is 1. Months have English names, whatever the locale. */
static inline const char *bide__month_name(int month)
{
    static const char names[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    return names[month - 1];
}

static inline int bide__take_month(struct bide__cursor *c)
{
    for (int month = 1; month <= 12; month++)
        if (bide__take(c, bide__month_name(month)))
            return month;
    c->ok = false;
    return 0;
}

/* 08:49:37 */
static inline void bide__take_clock(struct bide__cursor *c,
                                    struct bide__date *d)
{
    d->hour = bide__take_number(c, 2);
    bide__expect(c, ":");
    d->minute = bide__take_number(c, 2);
    bide__expect(c, ":");
    d->second = bide__take_number(c, 2);
}

#endif
