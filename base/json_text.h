/* A JSON string, whatever bytes it is made of: quoted, escaped, and valid UTF-8
 * (what is not becomes U+FFFD). For log lines, states and OTLP. */
#ifndef BIDE_BASE_JSON_TEXT_H
#define BIDE_BASE_JSON_TEXT_H

#include "base/out.h"

/* How many bytes at the front need no escape. */
size_t bide__json_plain(const char *text, size_t len);

/* The character at the front as it stands in a string; how many bytes that are.
 * *ret_taken is how many it took. Controls are escaped, those of C1 as well:
 * terminals obey them. */
enum { BIDE__JSON_CHAR = 6 };
size_t bide__json_char(const char *text, size_t len, char to[BIDE__JSON_CHAR],
                       size_t *ret_taken);

void bide__json_quote(struct bide__out *out, const char *text);
void bide__json_quote_n(struct bide__out *out, const char *text, size_t len);

#endif
