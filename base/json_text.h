/* What a JSON string is made of, whatever bytes it is to say: json.c puts it
 * together, and so does the access log, which knows how long a line may get.
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

/* The character at the front as it stands in a string; how many bytes that are.
 * *ret_taken is how many it took. Controls are escaped, those of C1 as well:
 * terminals obey them. What is not UTF-8 becomes U+FFFD. */
enum { BIDE__JSON_CHAR = 6 };
size_t bide__json_char(const char *text, size_t len, char to[BIDE__JSON_CHAR],
                       size_t *ret_taken);

#endif
