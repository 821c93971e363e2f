/* A JSON string, whatever bytes it is made of: quoted, escaped, and valid UTF-8
 * (what is not becomes U+FFFD). For log lines, states and OTLP. */
#ifndef BIDE_OBSERVE_JSON_TEXT_H
#define BIDE_OBSERVE_JSON_TEXT_H

#include "out.h"

void bide__json_quote(struct bide__out *out, const char *text);
void bide__json_quote_n(struct bide__out *out, const char *text, size_t len);

#endif
