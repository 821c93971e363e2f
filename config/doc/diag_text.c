/* diag_text.c: pieces of a file, fit to be shown. */
#include "config/doc/diag_text.h"

#include <stdint.h>
#include <string.h>

#include "base/hex.h"
#include "base/utf8.h"

bool bide__text_safe(const char *text, size_t len)
{
    uint32_t point;

    for (size_t i = 0; i < len;) {
        size_t n = bide__utf8_next(text + i, len - i, &point);

        if (n == 0 || bide__char_unsafe(point))
            return false;
        i += n;
    }
    return true;
}

char *bide__text_made_safe(struct bide__arena *arena, const char *text,
                           size_t len)
{
    char *safe = bide__arena_alloc(arena, 4 * len + 1), *to = safe;
    uint32_t point;

    for (size_t i = 0; safe && i < len;) {
        size_t n = bide__utf8_next(text + i, len - i, &point);
        bool bad = n == 0 || bide__char_unsafe(point);

        for (size_t end = i + (n ? n : 1); i < end; i++) {
            unsigned char c = (unsigned char)text[i];

            if (bad) {
                *to++ = '\\';
                *to++ = 'x';
                to = bide__hex_write(to, &c, 1);
            } else {
                *to++ = (char)c;
            }
        }
    }
    return safe;
}

const char *bide__find_line(const char *text, size_t len, unsigned line,
                            size_t *ret_len)
{
    size_t at = 0, end;

    for (unsigned n = 1; at < len && n < line;) {
        size_t skip = bide__line_break(text + at, len - at);

        n += skip > 0;
        at += skip ? skip : 1;
    }
    for (end = at; end < len && !bide__line_break(text + end, len - end);)
        end++;
    *ret_len = end - at;
    return text + at;
}
