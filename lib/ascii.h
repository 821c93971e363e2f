/* ascii.h: small readers for text that a server sent.
 *
 * The functions of <ctype.h>, <strings.h> and strtol read the locale, take
 * signs and leading blanks that no grammar here allows, and stop at a NUL.
 * These read counted bytes, know ASCII and nothing else, and keep no state. */
#ifndef BIDE_LIB_ASCII_H
#define BIDE_LIB_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Counted bytes in someone else's memory. `at` is never NULL. */
struct bide__text {
    const char *at;
    size_t len;
};

static inline struct bide__text bide__text_of(const char *string)
{
    return (struct bide__text){ string, strlen(string) };
}

static inline bool bide__is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char bide__lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline bool bide__is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Removes the optional whitespace (OWS of RFC 9110) on both sides. NULL is the
 * empty text, whatever its length. */
static inline struct bide__text bide__trim(const char *at, size_t len)
{
    if (!at)
        return (struct bide__text){ "", 0 };
    while (len > 0 && bide__is_blank(at[len - 1]))
        len--;
    while (len > 0 && bide__is_blank(*at)) {
        at++;
        len--;
    }
    return (struct bide__text){ at, len };
}

/* Returns whether two texts are equal, ignoring the case of ASCII letters. */
static inline bool bide__same(struct bide__text a, struct bide__text b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (bide__lower(a.at[i]) != bide__lower(b.at[i]))
            return false;
    return true;
}

static inline bool bide__starts_with(struct bide__text text,
                                     struct bide__text start)
{
    return text.len >= start.len &&
           bide__same((struct bide__text){ text.at, start.len }, start);
}

/* Cuts the text up to `stop`, or all of it, off *rest, without the optional
 * whitespace around it and around what is left. */
static inline struct bide__text bide__piece(struct bide__text *rest, char stop)
{
    const char *found = rest->len ? memchr(rest->at, stop, rest->len) : NULL;
    size_t n = found ? (size_t)(found - rest->at) : rest->len;
    size_t skip = found ? n + 1 : n;
    struct bide__text piece = bide__trim(rest->at, n);
    *rest = bide__trim(rest->at + skip, rest->len - skip);
    return piece;
}

/* A decimal number as it is read: value * 10^scale, and a bit more if the
 * digits that did not fit were not all zero. Twenty digits fit into `value`, so
 * no digit is lost of any number that, scaled, is below INT64_MAX. */
struct bide__decimal {
    uint64_t value;
    int64_t scale;
    bool more;
};

static inline void bide__decimal_digit(struct bide__decimal *d, char c,
                                       bool fraction)
{
    unsigned digit = (unsigned)(c - '0');

    if (d->value > (UINT64_MAX - 9) / 10) {
        d->more = d->more || digit != 0;
        d->scale += fraction ? 0 : 1;
    } else {
        d->value = d->value * 10 + digit;
        d->scale -= fraction ? 1 : 0;
    }
}

/* Rounds up: a requested wait is never shortened. Neither loop runs more than
 * twenty times, however large the scale. */
static inline int64_t bide__decimal_scaled(struct bide__decimal d)
{
    for (; d.scale > 0 && d.value != 0; d.scale--) {
        if (d.value > INT64_MAX / 10)
            return INT64_MAX;
        d.value *= 10;
    }
    for (; d.scale < 0 && d.value != 0; d.scale++) {
        d.more = d.more || d.value % 10 != 0;
        d.value /= 10;
    }
    if (d.value >= INT64_MAX)
        return INT64_MAX;
    return (int64_t)d.value + (d.more ? 1 : 0);
}

/* Reads 1*DIGIT, or 1*DIGIT "." 1*DIGIT, times 10^scale into *ret, saturating
 * at INT64_MAX. False, and *ret untouched, if the text is anything else. */
static inline bool bide__read_decimal(struct bide__text text, int64_t scale,
                                      int64_t *ret)
{
    struct bide__decimal d = { 0, scale, false };
    bool fraction = false;

    for (size_t i = 0; i < text.len; i++) {
        if (bide__is_digit(text.at[i]))
            bide__decimal_digit(&d, text.at[i], fraction);
        else if (text.at[i] == '.' && !fraction && i > 0)
            fraction = true;
        else
            return false;
    }
    if (text.len == 0 || text.at[text.len - 1] == '.')
        return false;
    *ret = bide__decimal_scaled(d);
    return true;
}

/* The same without a fraction. */
static inline bool bide__read_integer(struct bide__text text, int64_t scale,
                                      int64_t *ret)
{
    return text.len > 0 && !memchr(text.at, '.', text.len) &&
           bide__read_decimal(text, scale, ret);
}

#endif
