/* The tokens of JSON (RFC 8259), read one at a time from counted bytes. The
 * structure of a document, and its use, are up to the caller: problem.c. */
#ifndef BIDE_LIB_RESPONSE_JSON_SCAN_H
#define BIDE_LIB_RESPONSE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ascii.h"

#define BIDE__SCAN_TEXT 256

/* The position, and the last string that was read. Threads: owned. */
struct bide__scan {
    const unsigned char *at;
    const unsigned char *end;
    char text[BIDE__SCAN_TEXT]; /* unescaped, UTF-8, with a NUL after it */
    size_t text_len;
    bool text_fits; /* text holds all of it, and no control characters */
};

/* A number before evaluation: mantissa * 10^exponent. */
struct bide__scan_number {
    struct bide__text mantissa; /* 1*DIGIT ["." 1*DIGIT] */
    int64_t exponent;           /* within +-10^7 */
    bool negative;
};

/* The next byte, or -1 at the end. */
static inline int bide__scan_peek(const struct bide__scan *j)
{
    return j->at < j->end ? *j->at : -1;
}

/* Reads the byte c, if it comes next. */
static inline bool bide__scan_take(struct bide__scan *j, int c)
{
    if (bide__scan_peek(j) != c)
        return false;
    j->at++;
    return true;
}

void bide__scan_space(struct bide__scan *j);

/* Read one token each; false if it is missing or invalid. */
bool bide__scan_word(struct bide__scan *j, const char *word);
bool bide__scan_string(struct bide__scan *j);
bool bide__scan_number(struct bide__scan *j, struct bide__scan_number *ret);

#endif
