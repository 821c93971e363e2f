/* Points in time as logs and scripts write them. Nothing here looks at the
 * locale or at the time zone of the machine. */
#include "replay/replay.h"

#include <string.h>

/* ===== reading bit by bit ===== */

struct cursor {
    const char *at, *end;
    bool bad;
};

static int digit(const char *at)
{
    return *at >= '0' && *at <= '9' ? *at - '0' : -1;
}

/* Exactly `n` digits, between lo and hi. */
static int number(struct cursor *c, int n, int lo, int hi)
{
    int value = 0;
    for (int i = 0; i < n; i++, c->at++) {
        if (c->at == c->end || digit(c->at) < 0) {
            c->bad = true;
            return lo;
        }
        value = 10 * value + digit(c->at);
    }
    if (value < lo || value > hi) {
        c->bad = true;
        return lo;
    }
    return value;
}

static bool skip(struct cursor *c, char this)
{
    bool there = c->at < c->end && *c->at == this;
    if (there)
        c->at++;
    return there;
}

static void want(struct cursor *c, char this)
{
    if (!skip(c, this))
        c->bad = true;
}

/* ===== dates ===== */

struct date {
    int year, month, day, hour, minute, second;
    int offset_s; /* east of Greenwich */
    int64_t fraction_ns;
    bool fraction;
};

/* Days since 1970-01-01 in the calendar that never changed. */
static int64_t days(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
           719468;
}

static int month_length(int year, int month)
{
    static const int length[] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : length[month - 1];
}

static int finish(const struct cursor *c, const struct date *d, int64_t *ret_ns)
{
    if (c->bad || c->at != c->end || d->day > month_length(d->year, d->month))
        return BIDE_EPARSE;
    int64_t s = days(d->year, d->month, d->day) * 86400 + d->hour * 3600 +
                d->minute * 60 + d->second - d->offset_s;
    if (s < 0)
        return BIDE_EPARSE;
    *ret_ns = s * BIDE_SECOND + d->fraction_ns;
    return 0;
}

/* "+0200", "-07:00" */
static int offset(struct cursor *c)
{
    int sign = 1;
    if (skip(c, '-'))
        sign = -1;
    else
        want(c, '+');
    int hours = number(c, 2, 0, 23);
    skip(c, ':');
    return sign * (hours * 3600 + number(c, 2, 0, 59) * 60);
}

static void clock_time(struct cursor *c, struct date *d)
{
    d->hour = number(c, 2, 0, 23);
    want(c, ':');
    d->minute = number(c, 2, 0, 59);
    want(c, ':');
    d->second = number(c, 2, 0, 60); /* a leap second is the one after it */
}

static int month_by_name(struct cursor *c)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int m = 1; c->end - c->at >= 3 && m <= 12; m++) {
        if (memcmp(c->at, names + 3 * (m - 1), 3) == 0) {
            c->at += 3;
            return m;
        }
    }
    c->bad = true;
    return 1;
}

/* ===== the forms ===== */

/* 10/Oct/2000:13:55:36 -0700 */
int replay_time_clf(const char *text, size_t len, int64_t *ret_ns)
{
    struct cursor c = { text, text + len, false };
    struct date d = { 0 };
    d.day = number(&c, 2, 1, 31);
    want(&c, '/');
    d.month = month_by_name(&c);
    want(&c, '/');
    d.year = number(&c, 4, 1970, 2200);
    want(&c, ':');
    clock_time(&c, &d);
    want(&c, ' ');
    d.offset_s = offset(&c);
    return finish(&c, &d, ret_ns);
}

static void fraction(struct cursor *c, struct date *d)
{
    int64_t unit = BIDE_SECOND / 10;
    const char *from = c->at;
    for (; c->at < c->end && digit(c->at) >= 0; c->at++, unit /= 10)
        d->fraction_ns += unit * digit(c->at);
    d->fraction = true;
    c->bad = c->bad || c->at == from;
}

/* 2026-01-02T03:04:05.678Z, +02:00, or without a zone: UTC */
int replay_time_iso(const char *text, size_t len, int64_t *ret_ns,
                    bool *ret_whole)
{
    struct cursor c = { text, text + len, false };
    struct date d = { 0 };
    d.year = number(&c, 4, 1970, 2200);
    want(&c, '-');
    d.month = number(&c, 2, 1, 12);
    want(&c, '-');
    d.day = number(&c, 2, 1, 31);
    if (!skip(&c, 'T') && !skip(&c, 't'))
        want(&c, ' ');
    clock_time(&c, &d);
    if (skip(&c, '.') || skip(&c, ','))
        fraction(&c, &d);
    if (c.at != c.end && !skip(&c, 'Z') && !skip(&c, 'z'))
        d.offset_s = offset(&c);
    int rc = finish(&c, &d, ret_ns);
    if (rc == 0)
        *ret_whole = !d.fraction;
    return rc;
}

int replay_decimal(const char *text, size_t len, int64_t unit_ns,
                   int64_t *ret_ns)
{
    struct cursor c = { text, text + len, false };
    int64_t whole = 0, part = 0, unit = unit_ns;
    bool any = false, fits = true;
    for (; c.at < c.end && digit(c.at) >= 0; c.at++, any = true) {
        fits = fits && whole <= (BIDE_FOREVER / unit_ns - 9) / 10;
        whole = fits ? 10 * whole + digit(c.at) : 0;
    }
    if (skip(&c, '.'))
        for (; c.at < c.end && digit(c.at) >= 0; c.at++, any = true)
            part += (unit /= 10) * digit(c.at);
    if (!any || c.at != c.end)
        return BIDE_EPARSE;
    int64_t ns = whole * unit_ns;
    *ret_ns = !fits || ns > BIDE_FOREVER - part ? BIDE_FOREVER : ns + part;
    return 0;
}

/* Seconds since 1970, or thousandths, millionths or billionths of one: today is
 * 1.8e9 s, and each unit begins where the one before would be the year 5138. */
int replay_time_epoch(const char *text, size_t len, int64_t *ret_ns)
{
    size_t whole = 0;
    int64_t ns, unit = BIDE_SECOND;
    while (whole < len && digit(text + whole) >= 0)
        whole++;
    if (whole > 18)
        unit = 1;
    else if (whole > 14)
        unit = 1000;
    else if (whole > 11)
        unit = BIDE_MILLISECOND;
    if (replay_decimal(text, len, unit, &ns) < 0 || ns >= BIDE_FOREVER - 1)
        return BIDE_EPARSE;
    *ret_ns = ns;
    return 0;
}

void replay_time_minute(int64_t ns, char *buffer, size_t size)
{
    int64_t minutes = ns / BIDE_MINUTE;
    int64_t left = minutes / 1440;
    int year = 1970, month = 1;
    while (left >= days(year + 1, 1, 1) - days(year, 1, 1)) {
        left -= days(year + 1, 1, 1) - days(year, 1, 1);
        year++;
    }
    while (left >= month_length(year, month))
        left -= month_length(year, month++);
    snprintf(buffer, size, "%04d-%02d-%02d %02d:%02d", year, month,
             (int)left + 1, (int)(minutes / 60 % 24), (int)(minutes % 60));
}
