/* json_scan.c: strings, numbers and words of JSON, from untrusted bodies.
 *
 * Strict, because two readers that disagree about a document are an attack
 * vector: strings must be valid Unicode, in their bytes and in their escapes,
 * and numbers must follow the grammar exactly. A string is unescaped into a
 * small buffer; a longer one is read to its end but not kept. Numbers are left
 * as digits: a double would round them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/response/json_scan.h"

void bide__scan_space(struct bide__scan *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' ||
                              *j->at == '\n' || *j->at == '\r'))
        j->at++;
}

bool bide__scan_word(struct bide__scan *j, const char *word)
{
    for (; *word; word++)
        if (!bide__scan_take(j, *word))
            return false;
    return true;
}

/* Distinguishes high from low surrogates by the first of the range. */
static bool is_surrogate(uint32_t point, uint32_t first)
{
    return point >= first && point < first + 0x400;
}

/* Adds a character to the text. A control character marks the text as not
 * fitting: none of the names and URIs we look for has any, they must not reach
 * a log, and a NUL must not cut the text short. */
static void put(struct bide__scan *j, uint32_t point)
{
    static const unsigned char marks[] = { 0, 0xc0, 0xe0, 0xf0 };
    int more = (point >= 0x80) + (point >= 0x800) + (point >= 0x10000);

    if (point < 0x20 || (point >= 0x7f && point < 0xa0) ||
        j->text_len + (size_t)more + 1 >= sizeof j->text)
        j->text_fits = false;
    if (!j->text_fits)
        return;
    j->text[j->text_len++] = (char)(marks[more] | point >> (6 * more));
    while (more-- > 0)
        j->text[j->text_len++] = (char)(0x80 | (point >> (6 * more) & 0x3f));
}

/* An unescaped character. Overlong forms, surrogates and points beyond U+10FFFF
 * are not UTF-8. */
static bool plain_char(struct bide__scan *j)
{
    static const uint32_t least[] = { 0x20, 0x80, 0x800, 0x10000 };
    uint32_t lead = *j->at++;
    int more = (lead >= 0xc0) + (lead >= 0xe0) + (lead >= 0xf0);
    uint32_t point = more ? lead & (0x3fu >> more) : lead;

    if ((lead >= 0x80 && lead < 0xc0) || lead > 0xf4)
        return false;
    for (int i = 0; i < more; i++) {
        if (j->at == j->end || (*j->at & 0xc0) != 0x80)
            return false;
        point = point << 6 | (*j->at++ & 0x3f);
    }
    if (point < least[more] || point > 0x10ffff ||
        is_surrogate(point, 0xd800) || is_surrogate(point, 0xdc00))
        return false;
    put(j, point);
    return true;
}

static bool hex4(struct bide__scan *j, uint32_t *ret)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t value = 0;

    for (int i = 0; i < 4; i++) {
        int c = bide__scan_peek(j);
        const char *at = c > 0 ? strchr(hex, bide__lower((char)c)) : NULL;

        if (!at)
            return false;
        value = value << 4 | (uint32_t)(at - hex);
        j->at++;
    }
    *ret = value;
    return true;
}

/* What follows \u. A pair of surrogates is one character; one without the other
 * is invalid. */
static bool unicode_escape(struct bide__scan *j)
{
    uint32_t point, low;

    if (!hex4(j, &point) || is_surrogate(point, 0xdc00))
        return false;
    if (is_surrogate(point, 0xd800)) {
        if (!bide__scan_word(j, "\\u") || !hex4(j, &low) ||
            !is_surrogate(low, 0xdc00))
            return false;
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    put(j, point);
    return true;
}

/* What follows a backslash. */
static bool escape(struct bide__scan *j)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int c = bide__scan_peek(j);
    const char *at = c > 0 ? strchr(letters, c) : NULL;

    if (bide__scan_take(j, 'u'))
        return unicode_escape(j);
    if (!at)
        return false;
    j->at++;
    put(j, (unsigned char)meanings[at - letters]);
    return true;
}

bool bide__scan_string(struct bide__scan *j)
{
    j->text_len = 0;
    j->text_fits = true;
    if (!bide__scan_take(j, '"'))
        return false;
    while (j->at < j->end && *j->at != '"')
        if (bide__scan_take(j, '\\') ? !escape(j) : !plain_char(j))
            return false;
    j->text[j->text_len] = '\0';
    return bide__scan_take(j, '"');
}

/* Skips 1*DIGIT. */
static bool digits(struct bide__scan *j)
{
    const unsigned char *start = j->at;

    while (j->at < j->end && bide__is_digit((char)*j->at))
        j->at++;
    return j->at > start;
}

/* Reads an exponent, if there is one. Beyond 10^6 its value makes no
 * difference, since no body is long enough for the digits to compensate. */
static bool exponent(struct bide__scan *j, int64_t *ret)
{
    const unsigned char *start;
    bool negative;
    int64_t value = 0;

    *ret = 0;
    if (!bide__scan_take(j, 'e') && !bide__scan_take(j, 'E'))
        return true;
    negative = bide__scan_take(j, '-');
    if (!negative)
        bide__scan_take(j, '+');
    start = j->at;
    if (!digits(j))
        return false;
    for (; start < j->at && value < 1000000; start++)
        value = value * 10 + (*start - '0');
    *ret = negative ? -value : value;
    return true;
}

bool bide__scan_number(struct bide__scan *j, struct bide__scan_number *ret)
{
    const char *start;

    ret->negative = bide__scan_take(j, '-');
    start = (const char *)j->at;
    if (!bide__scan_take(j, '0') && !digits(j))
        return false;
    if (bide__scan_take(j, '.') && !digits(j))
        return false;
    ret->mantissa.at = start;
    ret->mantissa.len = (size_t)((const char *)j->at - start);
    return exponent(j, &ret->exponent);
}
