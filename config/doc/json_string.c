/* json_string.c: the characters of JSON, and what strings make of them. */
#include "config/doc/json_reader.h"

#include <string.h>

#include "base/hex.h"
#include "base/utf8.h"

int bide__json_peek_in(const struct bide__json_in *r)
{
    return r->at < r->end ? (unsigned char)*r->at : -1;
}

void bide__json_step(struct bide__json_in *r)
{
    size_t left = (size_t)(r->end - r->at);
    size_t line_break = bide__line_break(r->at, left);

    r->line += line_break > 0;
    r->column = line_break ? 1 : r->column + 1;
    r->at += line_break ? line_break : bide__utf8_next(r->at, left, NULL);
}

bool bide__json_take_in(struct bide__json_in *r, char c)
{
    if (bide__json_peek_in(r) != c)
        return false;
    bide__json_step(r);
    return true;
}

struct bide__mark bide__json_here(const struct bide__json_in *r)
{
    return (struct bide__mark){ r->line, r->column, r->line, r->column };
}

bool bide__json_refuse(struct bide__json_in *r, struct bide__mark mark,
                       const char *expected, const char *help)
{
    struct bide__tree *t = r->b.tree;
    size_t n = bide__utf8_next(r->at, (size_t)(r->end - r->at), NULL);

    if (mark.line == mark.end_line && mark.column == mark.end_column && n)
        mark.end_column++;
    if (n)
        bide__diag_at(r->b.notes, t->name, t->text, t->len, mark, BIDE_MISTAKE,
                      "syntax", help, "not JSON: expected %s, found `%.*s`",
                      expected, (int)n, r->at);
    else
        bide__diag_at(r->b.notes, t->name, t->text, t->len, mark, BIDE_MISTAKE,
                      "syntax", help, "not JSON: expected %s, found the end",
                      expected);
    return bide__build_fail(&r->b, BIDE_EPARSE);
}

/* ===== strings ===== */

static bool hex4(struct bide__json_in *r, uint32_t *ret)
{
    *ret = 0;
    for (int i = 0; i < 4; i++, bide__json_step(r)) {
        int c = bide__json_peek_in(r);
        int digit = c < 0 ? -1 : bide__hex_value((char)c);

        if (digit < 0)
            return bide__json_refuse(r, bide__json_here(r),
                                     "four hexadecimal digits", NULL);
        *ret = *ret << 4 | (uint32_t)digit;
    }
    return true;
}

static void put_point(char **to, uint32_t point)
{
    static const unsigned char marks[] = { 0, 0xc0, 0xe0, 0xf0 };
    int more = (point >= 0x80) + (point >= 0x800) + (point >= 0x10000);

    *(*to)++ = (char)(marks[more] | point >> (6 * more));
    while (more-- > 0)
        *(*to)++ = (char)(0x80 | (point >> (6 * more) & 0x3f));
}

/* What follows \u; a pair of surrogates is one character. */
static bool read_point(struct bide__json_in *r, char **to)
{
    uint32_t point, low;

    if (!hex4(r, &point))
        return false;
    if (point >= 0xd800 && point < 0xdc00) {
        if (!bide__json_take_in(r, '\\') || !bide__json_take_in(r, 'u'))
            return bide__json_refuse(r, bide__json_here(r),
                                     "the other half of a pair, \\udc00 up",
                                     NULL);
        if (!hex4(r, &low))
            return false;
        if (low < 0xdc00 || low >= 0xe000)
            return bide__json_refuse(r, bide__json_here(r),
                                     "the other half of a pair before this",
                                     NULL);
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    } else if (point >= 0xdc00 && point < 0xe000) {
        return bide__json_refuse(r, bide__json_here(r),
                                 "the first half of a pair before this", NULL);
    }
    put_point(to, point);
    return true;
}

static bool read_escape(struct bide__json_in *r, char **to)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int c = bide__json_peek_in(r);
    const char *at = c > 0 ? strchr(letters, c) : NULL;

    if (bide__json_take_in(r, 'u'))
        return read_point(r, to);
    if (!at)
        return bide__json_refuse(r, bide__json_here(r),
                                 "one of \" \\ / b f n r t u after `\\`", NULL);
    bide__json_step(r);
    *(*to)++ = meanings[at - letters];
    return true;
}

bool bide__json_chars(struct bide__json_in *r, char **to)
{
    while (!bide__json_take_in(r, '"')) {
        const char *from = r->at;

        if (bide__json_take_in(r, '\\')) {
            if (!read_escape(r, to))
                return false;
            continue;
        }
        if (bide__json_peek_in(r) < 0x20)
            return bide__json_refuse(
                r, bide__json_here(r), "a closing quote",
                bide__json_peek_in(r) < 0
                    ? NULL
                    : "write line breaks as \\n, tabs as \\t");
        bide__json_step(r);
        memcpy(*to, from, (size_t)(r->at - from));
        *to += r->at - from;
    }
    return true;
}
