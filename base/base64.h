/* base/base64.h: any bytes as text (RFC 4648).
 *
 *     char text[BIDE__BASE64_SIZE(20)];
 *     size_t n = bide__base64(text, digest, 20);      // 28, no NUL behind it
 */
#ifndef BIDE_BASE_BASE64_H
#define BIDE_BASE_BASE64_H

#include <stddef.h>

/* What so many bytes become. */
#define BIDE__BASE64_SIZE(n) (((n) + 2) / 3 * 4)

/* Writes BIDE__BASE64_SIZE(n) letters, and returns how many that are. */
size_t bide__base64(char *out, const void *bytes, size_t n);

/* The value of a letter; negative: it is none. */
int bide__base64_value(char letter);

#endif
