/* date.c: RFC 3339 and the common log format, using the calendar of lib/. */
#include "base/date.h"

#include <stdio.h>

#include "bide/policy.h"
#include "lib/response/calendar.h"

enum { FIRST_YEAR = 1970, LAST_YEAR = 2200 };

/* ===== reading ===== */

static struct bide__cursor begin(const char *text, size_t len)
{
    return (struct bide__cursor){ text, text + len, true };
}

/* "+0200", "-07:00", in seconds east of Greenwich. */
static int take_offset(struct bide__cursor *c)
{
    bool west = bide__take(c, "-");
    int hours, minutes;

    if (!west)
        bide__expect(c, "+");
    hours = bide__take_number(c, 2);
    bide__take(c, ":");
    minutes = bide__take_number(c, 2);
    c->ok = c->ok && hours <= 23 && minutes <= 59;
    return (west ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/* Digits beyond the nanosecond are dropped. */
static int64_t take_fraction(struct bide__cursor *c)
{
    int64_t unit = BIDE_SECOND / 10, ns = 0;
    const char *from = c->at;

    for (; c->at < c->end && bide__is_digit(*c->at); c->at++, unit /= 10)
        ns += unit * (*c->at - '0');
    c->ok = c->ok && c->at > from;
    return ns;
}

static bool finish(const struct bide__cursor *c, const char *text,
                   const struct bide__date *d, struct bide__instant at,
                   struct bide__instant *ret)
{
    int64_t ns;

    if (!c->ok || d->year < FIRST_YEAR || d->year > LAST_YEAR ||
        !bide__date_exists(d))
        return false;
    ns = bide__date_seconds(d) * BIDE_SECOND + at.ns;
    if (ns < 0)
        return false;
    *ret = at;
    ret->ns = ns;
    ret->len = (size_t)(c->at - text);
    return true;
}

bool bide__date_rfc3339(const char *text, size_t len, struct bide__instant *ret)
{
    struct bide__cursor c = begin(text, len);
    struct bide__instant at = { .whole = true, .zoned = true };
    struct bide__date d = { 0 };

    d.year = bide__take_number(&c, 4);
    bide__expect(&c, "-");
    d.month = bide__take_number(&c, 2);
    bide__expect(&c, "-");
    d.day = bide__take_number(&c, 2);
    if (!bide__take(&c, "T") && !bide__take(&c, "t"))
        bide__expect(&c, " ");
    bide__take_clock(&c, &d);
    if (bide__take(&c, ".") || bide__take(&c, ",")) {
        at.ns = take_fraction(&c);
        at.whole = false;
    }
    if (c.at < c.end && (*c.at == '+' || *c.at == '-'))
        at.ns -= take_offset(&c) * BIDE_SECOND;
    else
        at.zoned = bide__take(&c, "Z") || bide__take(&c, "z");
    return finish(&c, text, &d, at, ret);
}

bool bide__date_common(const char *text, size_t len, struct bide__instant *ret)
{
    struct bide__cursor c = begin(text, len);
    struct bide__instant at = { .whole = true, .zoned = true };
    struct bide__date d = { 0 };

    d.day = bide__take_number(&c, 2);
    bide__expect(&c, "/");
    d.month = bide__take_month(&c);
    bide__expect(&c, "/");
    d.year = bide__take_number(&c, 4);
    bide__expect(&c, ":");
    bide__take_clock(&c, &d);
    bide__expect(&c, " ");
    at.ns -= take_offset(&c) * BIDE_SECOND;
    return finish(&c, text, &d, at, ret);
}

/* ===== writing ===== */

/* The search for the year starts slightly too early, as if every year were a
 * leap year. */
static struct bide__date date_of(int64_t s)
{
    int64_t day = s / 86400;
    int left = (int)(s % 86400);
    struct bide__date d = { .year = 1970 + (int)(day / 366), .day = 1 };

    d.hour = left / 3600;
    d.minute = left / 60 % 60;
    d.second = left % 60;
    for (d.month = 1, d.year++; bide__date_days(&d) <= day;)
        d.year++;
    d.year--;
    for (day -= bide__date_days(&d); day >= bide__month_length(d.year, d.month);
         d.month++)
        day -= bide__month_length(d.year, d.month);
    d.day += (int)day;
    return d;
}

const char *bide__date_text(int64_t s, char to[BIDE__DATE_TEXT])
{
    struct bide__date d = date_of(s);

    snprintf(to, BIDE__DATE_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d", d.year,
             d.month, d.day, d.hour, d.minute, d.second);
    return to;
}

const char *bide__date_common_text(int64_t s, char to[BIDE__DATE_TEXT])
{
    struct bide__date d = date_of(s);

    snprintf(to, BIDE__DATE_TEXT, "%02d/%s/%04d:%02d:%02d:%02d +0000", d.day,
             bide__month_name(d.month), d.year, d.hour, d.minute, d.second);
    return to;
}
