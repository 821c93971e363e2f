/* Decoding UTF-8 from bytes that may be invalid.
 *
 *     uint32_t point;
 *     for (size_t i = 0, n; i < len; i += n ? n : 1) {
 *         n = bide__utf8_next(text + i, len - i, &point);
 *         if (n == 0 || bide__char_unsafe(point))
 *             return false;
 *     }
 *     return true; */
#ifndef BIDE_BASE_UTF8_H
#define BIDE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the character at the front, 1 to 4 bytes; 0 if the text is
 * empty or not UTF-8 (overlong forms, surrogates and code points over U+10FFFF
 * are not). ret_point may be NULL. */
size_t bide__utf8_next(const char *text, size_t len, uint32_t *ret_point);

/* The number of characters in `len` bytes. */
size_t bide__utf8_count(const char *text, size_t len);

/* Where to cut a text to at most so many bytes without splitting a character.
 * The text must be longer than that. */
size_t bide__utf8_cut(const char *text, size_t most);

/* Writes a character, at most U+10FFFF, and returns its length in bytes. */
size_t bide__utf8_put(char to[4], uint32_t point);

/* The length of the line break at the front, or 0. Line breaks are those of
 * YAML: LF, CR, CR LF, NEL, LS, PS. */
size_t bide__line_break(const char *text, size_t len);

/* How many columns of a terminal a character takes: 0, 1 or 2. */
int bide__char_width(uint32_t point);

/* Whether a character must not reach a terminal as it is: control characters,
 * and marks that reverse the direction of text. */
bool bide__char_unsafe(uint32_t point);

/* Replaces such characters, and what is not UTF-8, by question marks. */
void bide__make_safe(char *text);

#endif
