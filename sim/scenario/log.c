/* log.c: reads the times in a log, for a fleet that replays it.
 *
 * Each line has a time: seconds (`1731744000.25`, from any origin) or RFC 3339
 * (`2026-11-16T07:40:00.5Z`) at its beginning, or the time in brackets of
 * access logs (`[16/Nov/2026:07:40:00 +0100]`). The rest is ignored.
 *
 * Access logs have a resolution of a second, and a busy second has a thousand
 * lines. Putting them all at its start would be a burst that never happened, so
 * they are spread evenly over the second. The locale and the time zone have no
 * effect. */
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "config/field/value.h"
#include "lib/ascii.h"
#include "sim/model/memory.h"
#include "sim/scenario/replay.h"

/* ===== one time ===== */

/* [16/Nov/2026:07:40:00 +0100], anywhere in the line */
static bool in_brackets(const char *line, size_t len, struct bide__instant *ret)
{
    const char *open = memchr(line, '[', len);

    return open &&
           bide__date_common(open + 1, (size_t)(line + len - open) - 1, ret);
}

/* 1731744000.25; the whole seconds are read separately, so that no digit is
 * lost. */
static bool seconds(const char *line, size_t len, struct bide__instant *ret)
{
    size_t n = bide__count_digits(line, len);
    int64_t unit = BIDE_SECOND / 10;
    uint64_t s;

    if (bide__parse_count(line, n, &s) < 0 || s > 9000000000)
        return false;
    *ret = (struct bide__instant){ .ns = (int64_t)s * BIDE_SECOND };
    if (n < len && line[n] == '.')
        for (n++; n < len && bide__is_digit(line[n]); n++, unit /= 10)
            ret->ns += (line[n] - '0') * unit;
    return n == len || strchr(" \t,;\r", line[n]);
}

static bool read_time(const char *line, size_t len, struct bide__instant *ret)
{
    return seconds(line, len, ret) ||
           (bide__date_rfc3339(line, len, ret) && ret->zoned) ||
           in_brackets(line, len, ret);
}

/* ===== all of them ===== */

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

/* Spreads runs of equal whole seconds evenly over the second. */
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
    bool all_whole = true, good = true;
    struct bide__instant time;

    *ret = NULL;
    for (size_t at = 0, size; at < len; at += size + 1, line++) {
        const char *end = memchr(text + at, '\n', len - at);

        size = end ? (size_t)(end - text) - at : len - at;
        if (size == 0 || text[at] == '#' || text[at] == '\r')
            continue;
        *ret = sim_grow(*ret, n, &room, sizeof **ret);
        if (read_time(text + at, size, &time)) {
            all_whole &= time.whole;
            (*ret)[n++] = time.ns;
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
