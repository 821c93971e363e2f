/* log.c: the times of a log, for a fleet that replays it.
 *
 * Each line has a time: seconds (`1731744000.25`, or from any other zero) or
 * RFC 3339 (`2026-11-16T07:40:00.5Z`) at its beginning, or what access logs
 * have in brackets (`[16/Nov/2026:07:40:00 +0100]`). What follows is not looked
 * at.
 *
 * Access logs name seconds, and a busy second has a thousand lines. All of them
 * at its first instant would be a burst that never was, so they are spread
 * evenly over the second. Nothing here looks at the locale or the time zone. */
#include <stdlib.h>
#include <string.h>

#include "config/field/value.h"
#include "sim/model/memory.h"
#include "sim/scenario/load.h"

/* ===== one time ===== */

/* Reads bit by bit; what does not fit is remembered. */
struct cursor {
    const char *at, *end;
    bool bad;
};

static int64_t digits(struct cursor *c, int n, int64_t low, int64_t high)
{
    int64_t value = 0;

    for (int i = 0; i < n; i++, c->at++) {
        if (c->at >= c->end || *c->at < '0' || *c->at > '9') {
            c->bad = true;
            return low;
        }
        value = 10 * value + (*c->at - '0');
    }
    if (value < low || value > high)
        c->bad = true;
    return value;
}

static bool skip(struct cursor *c, char this)
{
    bool there = c->at < c->end && *c->at == this;

    c->at += there;
    return there;
}

static void want(struct cursor *c, char this)
{
    if (!skip(c, this))
        c->bad = true;
}

/* Days since 1970-01-01 in the calendar that never changed. */
static int64_t days(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year, era = y / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
           719468;
}

static int64_t time_of_day(struct cursor *c)
{
    int64_t s = digits(c, 2, 0, 23) * 3600;

    want(c, ':');
    s += digits(c, 2, 0, 59) * 60;
    want(c, ':');
    return s + digits(c, 2, 0, 60);
}

/* "Z", "+0200", "-07:00", in seconds east. */
static int64_t zone(struct cursor *c)
{
    int64_t sign = 1, s;

    if (skip(c, 'Z') || skip(c, 'z'))
        return 0;
    if (skip(c, '-'))
        sign = -1;
    else
        want(c, '+');
    s = digits(c, 2, 0, 23) * 3600;
    skip(c, ':');
    return sign * (s + digits(c, 2, 0, 59) * 60);
}

static int64_t fraction_ns(struct cursor *c)
{
    int64_t unit = BIDE_SECOND / 10, ns = 0;

    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        ns += (*c->at - '0') * unit;
        unit /= 10;
    }
    return ns;
}

/* 2026-11-16T07:40:00.5Z */
static bool rfc3339(struct cursor c, int64_t *ret_ns, bool *ret_whole)
{
    int64_t year, month, s, ns = 0;

    year = digits(&c, 4, 1970, 2200);
    want(&c, '-');
    month = digits(&c, 2, 1, 12);
    want(&c, '-');
    s = days(year, month, digits(&c, 2, 1, 31)) * 86400;
    if (!skip(&c, 'T') && !skip(&c, 't'))
        want(&c, ' ');
    s += time_of_day(&c);
    *ret_whole = !skip(&c, '.');
    if (!*ret_whole)
        ns = fraction_ns(&c);
    s -= zone(&c);
    *ret_ns = s * BIDE_SECOND + ns;
    return !c.bad && s >= 0;
}

static int64_t month_by_name(struct cursor *c)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

    for (int m = 0; c->end - c->at >= 3 && m < 12; m++)
        if (memcmp(c->at, names + (size_t)3 * (size_t)m, 3) == 0) {
            c->at += 3;
            return m + 1;
        }
    c->bad = true;
    return 1;
}

/* [16/Nov/2026:07:40:00 +0100], wherever it stands in the line */
static bool in_brackets(struct cursor c, int64_t *ret_ns)
{
    int64_t day, month, s;
    const char *open = memchr(c.at, '[', (size_t)(c.end - c.at));

    if (!open)
        return false;
    c.at = open + 1;
    day = digits(&c, 2, 1, 31);
    want(&c, '/');
    month = month_by_name(&c);
    want(&c, '/');
    s = days(digits(&c, 4, 1970, 2200), month, day) * 86400;
    want(&c, ':');
    s += time_of_day(&c);
    want(&c, ' ');
    s -= zone(&c);
    *ret_ns = s * BIDE_SECOND;
    return !c.bad && s >= 0;
}

/* 1731744000.25; the seconds by themselves, so that no digit of them is lost.
 */
static bool seconds(struct cursor c, int64_t *ret_ns)
{
    const char *from = c.at;
    uint64_t s;

    while (c.at < c.end && *c.at >= '0' && *c.at <= '9')
        c.at++;
    if (bide__parse_count(from, (size_t)(c.at - from), &s) < 0 ||
        s > 9000000000)
        return false;
    *ret_ns = (int64_t)s * BIDE_SECOND;
    if (skip(&c, '.'))
        *ret_ns += fraction_ns(&c);
    return c.at == c.end || strchr(" \t,;\r", *c.at);
}

static bool read_time(const char *line, size_t len, int64_t *ret_ns,
                      bool *ret_whole)
{
    struct cursor c = { line, line + len, false };

    *ret_whole = false;
    if (seconds(c, ret_ns) || rfc3339(c, ret_ns, ret_whole))
        return true;
    *ret_whole = true;
    return in_brackets(c, ret_ns);
}

/* ===== all of them ===== */

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

/* Spreads runs of one whole second evenly over it. */
static void spread(int64_t *times, uint32_t n)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        end = i + 1;
        while (end < n && times[end] == times[i])
            end++;
        for (uint32_t k = i + 1; k < end; k++)
            times[k] += BIDE_SECOND * (int64_t)(k - i) / (int64_t)(end - i);
    }
}

static void refuse_line(struct sim_load *l, const char *path, const char *text,
                        size_t len, unsigned line, size_t chars)
{
    struct bide__mark mark = { line, 1, line, 1 + (unsigned)chars };

    bide__diag_at(l->base.notes, path, text, len, mark, BIDE_MISTAKE,
                  "bad-log-line",
                  "expected seconds, RFC 3339, or an access log's time in "
                  "brackets",
                  "there is no time in this line");
}

bool sim_read_log(struct sim_load *l, const char *path, const char *text,
                  size_t len, int64_t **ret, uint32_t *ret_n)
{
    uint32_t n = 0, room = 0;
    unsigned line = 1;
    bool all_whole = true, good = true, whole;

    *ret = NULL;
    for (size_t at = 0, size; at < len; at += size + 1, line++) {
        const char *end = memchr(text + at, '\n', len - at);

        size = end ? (size_t)(end - text) - at : len - at;
        if (size == 0 || text[at] == '#' || text[at] == '\r')
            continue;
        *ret = sim_grow(*ret, n, &room, sizeof **ret);
        if (read_time(text + at, size, &(*ret)[n], &whole)) {
            all_whole &= whole;
            n++;
        } else {
            refuse_line(l, path, text, len, line, size);
            good = false;
        }
    }
    if (n > 1)
        qsort(*ret, n, sizeof **ret, by_time);
    if (all_whole)
        spread(*ret, n);
    for (uint32_t i = n; i > 0; i--)
        (*ret)[i - 1] -= (*ret)[0];
    *ret_n = n;
    return good;
}
