/* Escaping any bytes for a JSON string. json.c uses it, and so does the access
 * log, which limits the length of a line.
 *
 *     size_t taken = bide__json_plain(text, len);
 *     if (taken)
 *         put(text, taken);
 *     else
 *         put(c, bide__json_char(text, len, c, &taken));
 *     text += taken; */
#ifndef BIDE_BASE_JSON_TEXT_H
#define BIDE_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes at the front need no escape. */
size_t bide__json_plain(const char *text, size_t len);

/* Writes the character at the front as it appears in a string, and returns how
 * many bytes it wrote; *ret_taken is how many it read. Control characters are
 * escaped, including C1, which terminals obey. Invalid UTF-8 becomes U+FFFD. */
enum { BIDE__JSON_CHAR = 6 };
size_t bide__json_char(const char *text, size_t len, char to[BIDE__JSON_CHAR],
                       size_t *ret_taken);

#endif
