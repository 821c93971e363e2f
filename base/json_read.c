/* json_read.c: the tokens of JSON, and their positions. */
#include "base/json_read.h"

#include <stdint.h>
#include <string.h>

#include "base/hex.h"
#include "base/utf8.h"

struct bide__json_in bide__json_read(const char *text, size_t len)
{
    return (struct bide__json_in){
        .at = text, .end = text + len, .line = 1, .column = 1
    };
}

struct bide__mark bide__json_in_here(const struct bide__json_in *in)
{
    return (struct bide__mark){ in->line, in->column, in->line, in->column };
}

/* ===== characters ===== */

static int next(const struct bide__json_in *in)
{
    return in->at < in->end ? (unsigned char)*in->at : -1;
}

static void step(struct bide__json_in *in)
{
    size_t left = (size_t)(in->end - in->at);
    size_t line_break = bide__line_break(in->at, left);
    size_t n = bide__utf8_next(in->at, left, NULL);

    in->line += line_break > 0;
    in->column = line_break ? 1 : in->column + 1;
    in->at += line_break ? line_break : n ? n : 1;
}

static bool skip(struct bide__json_in *in, char c)
{
    if (next(in) != c)
        return false;
    step(in);
    return true;
}

int bide__json_in_peek(struct bide__json_in *in)
{
    int c;

    while ((c = next(in)) == ' ' || c == '\t' || c == '\n' || c == '\r')
        step(in);
    return c;
}

bool bide__json_in_take(struct bide__json_in *in, char c)
{
    bide__json_in_peek(in);
    return skip(in, c);
}

bool bide__json_in_refuse(struct bide__json_in *in, const char *expected,
                          const char *help)
{
    if (in->expected)
        return false;
    in->expected = expected;
    in->help = help;
    in->mark = bide__json_in_here(in);
    in->mark.end_column += in->at < in->end;
    return false;
}

/* ===== strings ===== */

size_t bide__json_in_longest(const struct bide__json_in *in)
{
    const char *at = in->at + 1;

    while (at < in->end && *at != '"')
        at += *at == '\\' && at + 1 < in->end ? 2 : 1;
    return (size_t)(at - in->at) + 4;
}

static bool hex4(struct bide__json_in *in, uint32_t *ret)
{
    *ret = 0;
    for (int i = 0; i < 4; i++, step(in)) {
        int c = next(in);
        int digit = c < 0 ? -1 : bide__hex_value((char)c);

        if (digit < 0)
            return bide__json_in_refuse(in, "four hexadecimal digits", NULL);
        *ret = *ret << 4 | (uint32_t)digit;
    }
    return true;
}

/* Reads what follows \u; a pair of surrogates is one character. */
static bool read_point(struct bide__json_in *in, char **to)
{
    uint32_t point, low;

    if (!hex4(in, &point))
        return false;
    if (point >= 0xd800 && point < 0xdc00) {
        if (!skip(in, '\\') || !skip(in, 'u'))
            return bide__json_in_refuse(
                in, "the other half of a pair, \\udc00 up", NULL);
        if (!hex4(in, &low))
            return false;
        if (low < 0xdc00 || low >= 0xe000)
            return bide__json_in_refuse(
                in, "the other half of a pair before this", NULL);
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    } else if (point >= 0xdc00 && point < 0xe000) {
        return bide__json_in_refuse(in, "the first half of a pair before this",
                                    NULL);
    }
    *to += bide__utf8_put(*to, point);
    return true;
}

static bool read_escape(struct bide__json_in *in, char **to)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int c = next(in);
    const char *at = c > 0 ? strchr(letters, c) : NULL;

    if (skip(in, 'u'))
        return read_point(in, to);
    if (!at)
        return bide__json_in_refuse(in, "one of \" \\ / b f n r t u after `\\`",
                                    NULL);
    step(in);
    *(*to)++ = meanings[at - letters];
    return true;
}

bool bide__json_in_string(struct bide__json_in *in, char *to, size_t *ret_len)
{
    char *first = to;

    if (!bide__json_in_take(in, '"'))
        return bide__json_in_refuse(in, "a text in double quotes", NULL);
    while (!skip(in, '"')) {
        const char *from = in->at;

        if (skip(in, '\\')) {
            if (!read_escape(in, &to))
                return false;
            continue;
        }
        if (next(in) < 0x20)
            return bide__json_in_refuse(
                in, "a closing quote",
                next(in) < 0 ? NULL : "write line breaks as \\n, tabs as \\t");
        if (!bide__utf8_next(from, (size_t)(in->end - from), NULL))
            return bide__json_in_refuse(in, "UTF-8", NULL);
        step(in);
        memcpy(to, from, (size_t)(in->at - from));
        to += in->at - from;
    }
    *ret_len = (size_t)(to - first);
    return true;
}

/* ===== numbers and words ===== */

static size_t digits(const char *at, const char *end)
{
    size_t n = 0;

    while (at + n < end && at[n] >= '0' && at[n] <= '9')
        n++;
    return n;
}

/* The length of the number at the front, or 0. */
static size_t number_length(const char *start, const char *end)
{
    const char *at = start;
    size_t n;

    at += at < end && *at == '-';
    n = digits(at, end);
    if (n == 0 || (*at == '0' && n > 1))
        return 0;
    at += n;
    if (at < end && *at == '.') {
        n = digits(at + 1, end);
        if (n == 0)
            return 0;
        at += n + 1;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        n = digits(at, end);
        if (n == 0)
            return 0;
        at += n;
    }
    return (size_t)(at - start);
}

static size_t word_length(const char *at, const char *end)
{
    static const char *const words[] = { "true", "false", "null" };

    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);

        if ((size_t)(end - at) >= n && memcmp(at, words[i], n) == 0)
            return n;
    }
    return number_length(at, end);
}

size_t bide__json_in_word(struct bide__json_in *in)
{
    int c = bide__json_in_peek(in);
    size_t n = word_length(in->at, in->end);

    if (n == 0)
        bide__json_in_refuse(in, "a value",
                             c == '\'' ? "use double quotes" : NULL);
    in->at += n;
    in->column += (unsigned)n;
    return n;
}
