/* The tokens of JSON (RFC 8259), read one at a time from counted bytes. What a
 * document is made of, and what is done with it, is the caller's: problem.c. */
#ifndef BIDE_LIB_JSON_H
#define BIDE_LIB_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ascii.h"

#define BIDE__JSON_TEXT 256

/* Where we are, and the last string that was read. Threads: owned. */
struct bide__json {
    const unsigned char *at;
    const unsigned char *end;
    char text[BIDE__JSON_TEXT]; /* unescaped, UTF-8, with a NUL after it */
    size_t text_len;
    bool text_fits; /* text holds all of it, and no control characters */
};

/* A number that is not worked out yet: mantissa * 10^exponent. */
struct bide__json_number {
    struct bide__text mantissa; /* 1*DIGIT ["." 1*DIGIT] */
    int64_t exponent;           /* within +-10^7 */
    bool negative;
};

/* The next byte, or -1 at the end. */
static inline int bide__json_peek(const struct bide__json *j)
{
    return j->at < j->end ? *j->at : -1;
}

/* Reads the byte c, if it is the next one. */
static inline bool bide__json_take(struct bide__json *j, int c)
{
    if (bide__json_peek(j) != c)
        return false;
    j->at++;
    return true;
}

void bide__json_skip_space(struct bide__json *j);

/* Read one token each; false if it is not there, or not valid. */
bool bide__json_word(struct bide__json *j, const char *word);
bool bide__json_string(struct bide__json *j);
bool bide__json_read_number(struct bide__json *j, struct bide__json_number *ret);

#endif
