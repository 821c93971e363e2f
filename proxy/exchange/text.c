/* Writing heads into a buffer. */
#include "proxy/exchange/text.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json_text.h"
#include "base/number.h"

void text_lower(struct text *t, const char *from, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = from[i];
        if (c >= 'A' && c <= 'Z')
            c |= 0x20;
        text_put(t, &c, 1);
    }
}

void text_number(struct text *t, uint64_t n)
{
    char digits[BIDE__WHOLE], *at = bide__whole(n, digits);
    text_put(t, at, (size_t)(digits + BIDE__WHOLE - at));
}

void text_thousandths(struct text *t, unsigned n)
{
    const char digits[] = { '.', (char)('0' + n / 100 % 10),
                            (char)('0' + n / 10 % 10), (char)('0' + n % 10) };
    text_put(t, digits, sizeof digits);
}

void text_format(struct text *t, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof line)
        t->full = true;
    else
        text_put(t, line, (size_t)n);
}

void text_json(struct text *t, const char *from, size_t len, size_t most)
{
    TEXT_LITERAL(t, "\"");
    const char *end = t->at + most;
    for (size_t i = 0, taken; i < len && t->at < end; i += taken) {
        char c[BIDE__JSON_CHAR];
        size_t room = (size_t)(end - t->at), n;
        taken = bide__json_plain(from + i, len - i);
        if (taken) {
            text_put(t, from + i, taken < room ? taken : room);
            continue;
        }
        n = bide__json_char(from + i, len - i, c, &taken);
        if (n > room)
            break;
        text_put(t, c, n);
    }
    TEXT_LITERAL(t, "\"");
}

/* Lines without a gap between them go in one piece; mostly that is all of them.
 */
void text_lines(struct text *t, const struct http1_head *head,
                const char *bytes, uint64_t drop)
{
    const struct http1_field *f = head->fields;
    unsigned n = head->n_fields, from = 0;

    if (!(head->seen & drop) && !head->has_nominated_hop) {
        text_put(t, bytes + head->fields_at,
                 (size_t)(head->head_len - 2 - head->fields_at));
        return;
    }
    for (unsigned i = 0; i <= n; i++) {
        if (i < n && !f[i].hop && !(f[i].id && drop >> f[i].id & 1))
            continue;
        if (i > from)
            text_put(
                t, bytes + f[from].line,
                (size_t)(f[i - 1].line + f[i - 1].line_len - f[from].line));
        from = i + 1;
    }
}
