/* httpdate.c: the three forms of an HTTP-date (RFC 9110, 5.6.7).
 *
 *     Sun, 06 Nov 1994 08:49:37 GMT      what is sent today
 *     Sunday, 06-Nov-94 08:49:37 GMT     RFC 850
 *     Sun Nov  6 08:49:37 1994           asctime()
 *
 * A date decides how long a client stays away, so this is strict: one letter
 * off, and it is not a date. Only the weekday is not checked against the date,
 * since servers get it wrong, and nothing depends on it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bide/error.h"
#include "bide/hint.h"

#include "lib/response/calendar.h"

static const char *const short_days[] = { "Mon", "Tue", "Wed", "Thu",
                                          "Fri", "Sat", "Sun" };

static const char *const long_days[] = { "Monday",   "Tuesday", "Wednesday",
                                         "Thursday", "Friday",  "Saturday",
                                         "Sunday" };

/* Adds the century to a two-digit year: the latest one that does not put the
 * date more than 50 years in the future. If now is unknown, it is 2020. */
static void find_century(struct bide__date *d, int64_t wall_s)
{
    const int64_t year_2020_s = 1577836800, year_9999_s = 253370764800;
    const int64_t fifty_years_s = 1577847600; /* Gregorian mean */
    int64_t limit_s = wall_s <= 0 ? year_2020_s : wall_s;

    limit_s = limit_s < year_9999_s ? limit_s : year_9999_s;
    limit_s += fifty_years_s;
    for (d->year += 2000; bide__date_seconds(d) <= limit_s; d->year += 100)
        ;
    d->year -= 100;
}

static void imf_fixdate(struct bide__cursor *c, struct bide__date *d)
{
    bide__take_name(c, short_days, 7);
    bide__expect(c, ", ");
    d->day = bide__take_number(c, 2);
    bide__expect(c, " ");
    d->month = bide__take_month(c);
    bide__expect(c, " ");
    d->year = bide__take_number(c, 4);
    bide__expect(c, " ");
    bide__take_clock(c, d);
    bide__expect(c, " GMT");
}

static void rfc850_date(struct bide__cursor *c, struct bide__date *d,
                        int64_t wall_s)
{
    bide__take_name(c, long_days, 7);
    bide__expect(c, ", ");
    d->day = bide__take_number(c, 2);
    bide__expect(c, "-");
    d->month = bide__take_month(c);
    bide__expect(c, "-");
    d->year = bide__take_number(c, 2);
    bide__expect(c, " ");
    bide__take_clock(c, d);
    bide__expect(c, " GMT");
    find_century(d, wall_s);
}

static void asctime_date(struct bide__cursor *c, struct bide__date *d)
{
    bide__take_name(c, short_days, 7);
    bide__expect(c, " ");
    d->month = bide__take_month(c);
    bide__expect(c, " ");
    d->day = bide__take_number(c, bide__take(c, " ") ? 1 : 2);
    bide__expect(c, " ");
    bide__take_clock(c, d);
    bide__expect(c, " ");
    d->year = bide__take_number(c, 4);
}

int bide_http_date(const char *text, size_t len, int64_t wall_s, int64_t *ret_s)
{
    struct bide__cursor c;
    struct bide__date d = { 0, 0, 0, 0, 0, 0 };

    if (!text || !ret_s)
        return BIDE_EINVAL;
    c = (struct bide__cursor){ text, text + len, len > 3 };
    if (!c.ok)
        return BIDE_EPARSE;
    if (text[3] == ',')
        imf_fixdate(&c, &d);
    else if (text[3] == ' ')
        asctime_date(&c, &d);
    else
        rfc850_date(&c, &d, wall_s);
    if (!c.ok || c.at != c.end || !bide__date_exists(&d))
        return BIDE_EPARSE;
    *ret_s = bide__date_seconds(&d);
    return 0;
}
