/* Reading and writing timestamps as logs and files contain them.
 *
 *     struct bide__instant at;
 *     if (bide__date_rfc3339(text, len, &at) && at.len == len)
 *         handle(at.ns, at.whole);       // 2026-11-16T07:40:00.5Z
 *     if (bide__date_common(text, len, &at))
 *         handle(at.ns, at.whole);       // 16/Nov/2026:07:40:00 +0100
 *
 *     char now[BIDE__DATE_TEXT];
 *     puts(bide__date_text(1794814800, now)); // 2026-11-16T07:40:00
 *
 * Readers read a timestamp at the front of a text and return its length: the
 * caller knows what may follow. A day that does not exist is refused, and so is
 * one before 1970 or after 2200, which in a log is an error. The locale and the
 * machine's time zone have no effect. bide_http_date() (bide/hint.h) reads the
 * dates of HTTP, using the same calendar. */
#ifndef BIDE_BASE_DATE_H
#define BIDE_BASE_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Threads: owned. */
struct bide__instant {
    int64_t ns; /* since 1970, UTC */
    size_t len; /* length of its text in bytes */
    bool whole; /* whole seconds: the text has no fraction */
    bool zoned; /* the text names a zone; without one it is UTC */
};

/* RFC 3339, also with a blank for the T, a comma for the point, a zone without
 * a colon, or no zone. False: not a timestamp, and *ret is unchanged. */
bool bide__date_rfc3339(const char *text, size_t len,
                        struct bide__instant *ret);

/* The common log format, without its brackets. */
bool bide__date_common(const char *text, size_t len, struct bide__instant *ret);

/* Seconds since 1970 (not negative) as text, in UTC. The first writes no zone,
 * so that a fraction may follow. */
enum { BIDE__DATE_TEXT = 32 };
const char *bide__date_text(int64_t s, char to[BIDE__DATE_TEXT]);
const char *bide__date_common_text(int64_t s, char to[BIDE__DATE_TEXT]);

#endif
