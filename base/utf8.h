/* Characters in bytes that may be anything.
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

/* The length of the character at the front, 1 to 4 bytes; 0 if what is there is
 * not UTF-8 (overlong forms, surrogates and points over U+10FFFF are not), or
 * nothing is. ret_point may be NULL. */
size_t bide__utf8_next(const char *text, size_t len, uint32_t *ret_point);

/* How many characters there are in so many bytes. */
size_t bide__utf8_count(const char *text, size_t len);

/* The length of a text that is cut off after so many of its bytes, or before
 * the character that would be cut in two. It is longer than that. */
size_t bide__utf8_cut(const char *text, size_t most);

/* Writes a character, of at most U+10FFFF: how many bytes that are. */
size_t bide__utf8_put(char to[4], uint32_t point);

/* The length of the line break at the front, as YAML counts lines: LF, CR, CR
 * LF, NEL, LS, PS; or 0. */
size_t bide__line_break(const char *text, size_t len);

/* How many columns of a terminal a character takes: 0, 1 or 2. */
int bide__char_width(uint32_t point);

/* Whether a character must not reach a terminal as it is: controls, and marks
 * that turn the direction of text around. */
bool bide__char_unsafe(uint32_t point);

#endif
