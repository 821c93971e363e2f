/* utf8.c: decoding, line breaks, and how wide characters are on a terminal.
 *
 * The widths cover the blocks that matter, not all of Unicode's tables: a caret
 * one column off under a rare script does no harm in a policy file, and
 * wcwidth() depends on the locale, which a library must not set. */
#include "base/utf8.h"

#include <string.h>

size_t bide__utf8_next(const char *text, size_t len, uint32_t *ret_point)
{
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
    const unsigned char *at = (const unsigned char *)text;
    size_t more;
    uint32_t point;

    if (len == 0 || (at[0] >= 0x80 && at[0] < 0xc2) || at[0] > 0xf4)
        return 0;
    more = (size_t)(at[0] >= 0xc0) + (at[0] >= 0xe0) + (at[0] >= 0xf0);
    point = more ? at[0] & (0x3fu >> more) : at[0];
    if (more >= len)
        return 0;
    for (size_t i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (at[i] & 0x3fu);
    }
    if (point < least[more] || point > 0x10ffff ||
        (point >= 0xd800 && point < 0xe000))
        return 0;
    if (ret_point)
        *ret_point = point;
    return more + 1;
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

size_t bide__utf8_count(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += !continues(text[i]);
    return n;
}

size_t bide__utf8_cut(const char *text, size_t most)
{
    while (most > 0 && continues(text[most]))
        most--;
    return most;
}

size_t bide__utf8_put(char to[4], uint32_t point)
{
    static const unsigned char marks[] = { 0, 0xc0, 0xe0, 0xf0 };
    size_t more =
        (size_t)(point >= 0x80) + (point >= 0x800) + (point >= 0x10000);

    to[0] = (char)(marks[more] | point >> (6 * more));
    for (size_t i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (point >> (6 * (more - i)) & 0x3f));
    return more + 1;
}

size_t bide__line_break(const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text;

    if (len == 0)
        return 0;
    if (at[0] == '\n')
        return 1;
    if (at[0] == '\r')
        return len > 1 && at[1] == '\n' ? 2 : 1;
    if (at[0] == 0xc2)
        return len > 1 && at[1] == 0x85 ? 2 : 0;
    if (at[0] == 0xe2)
        return len > 2 && at[1] == 0x80 && (at[2] | 1) == 0xa9 ? 3 : 0;
    return 0;
}

struct range {
    uint32_t first, last;
};

static bool within(uint32_t point, const struct range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    return false;
}

#define WITHIN(point, ranges)                                                  \
    within(point, ranges, sizeof(ranges) / sizeof(ranges)[0])

int bide__char_width(uint32_t point)
{
    static const struct range none[] = {
        { 0x300, 0x36f },   { 0x483, 0x489 },   { 0x591, 0x5bd },
        { 0x610, 0x61a },   { 0x64b, 0x65f },   { 0x93c, 0x93c },
        { 0x941, 0x948 },   { 0xe31, 0xe31 },   { 0xe34, 0xe3a },
        { 0xe47, 0xe4e },   { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
        { 0x200b, 0x200d }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f },
        { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xe0100, 0xe01ef },
    };
    static const struct range wide[] = {
        { 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x23e9, 0x23ec },
        { 0x2e80, 0x303e },   { 0x3041, 0x4dbf },   { 0x4e00, 0xa4cf },
        { 0xa960, 0xa97c },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
        { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
        { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
        { 0x20000, 0x3fffd },
    };

    if (point < 0x300)
        return 1;
    if (WITHIN(point, none))
        return 0;
    return WITHIN(point, wide) ? 2 : 1;
}

bool bide__char_unsafe(uint32_t point)
{
    static const struct range unsafe[] = {
        { 0, 0x1f },          { 0x7f, 0x9f },     { 0x200e, 0x200f },
        { 0x2028, 0x202e },   { 0x2066, 0x2069 }, { 0xfff9, 0xfffb },
        { 0xe0001, 0xe007f },
    };

    return WITHIN(point, unsafe);
}

void bide__make_safe(char *text)
{
    size_t len = strlen(text), n;
    uint32_t point;

    for (size_t i = 0; i < len; i += n) {
        n = bide__utf8_next(text + i, len - i, &point);
        if (n != 0 && !bide__char_unsafe(point))
            continue;
        n = n ? n : 1;
        memset(text + i, '?', n);
    }
}
