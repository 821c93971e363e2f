/* json_text.c: escapes. Most strings need none, so the writer copies whole
 * runs. */
#include "base/json_text.h"

#include <string.h>

#include "base/hex.h"
#include "base/utf8.h"

static bool plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

size_t bide__json_plain(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && plain((unsigned char)text[n]))
        n++;
    return n;
}

static size_t escape(uint32_t point, char to[BIDE__JSON_CHAR])
{
    static const char from[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    const char *at = point ? strchr(from, (int)point) : NULL;

    to[0] = '\\';
    if (at) {
        to[1] = names[at - from];
        return 2;
    }
    memcpy(to + 1, "u00", 3);
    to[4] = bide__hex_lower[point >> 4 & 15];
    to[5] = bide__hex_lower[point & 15];
    return 6;
}

size_t bide__json_char(const char *text, size_t len, char to[BIDE__JSON_CHAR],
                       size_t *ret_taken)
{
    uint32_t point;
    size_t n = bide__utf8_next(text, len, &point);

    *ret_taken = n ? n : 1;
    if (n == 1 || (n && point < 0xa0))
        return escape(point, to);
    memcpy(to, n ? text : "\xef\xbf\xbd", n ? n : 3);
    return n ? n : 3;
}
