/* Pieces of a file, fit to be shown. */
#ifndef BIDE_CONFIG_DOC_DIAG_TEXT_H
#define BIDE_CONFIG_DOC_DIAG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* Whether text may reach a terminal as it is; and what may instead, with bytes
 * as \xNN. NULL: no memory. */
bool bide__text_safe(const char *text, size_t len);
char *bide__text_made_safe(struct bide__arena *arena, const char *text,
                           size_t len);

/* The line of this number, counted from 1, without its end. */
const char *bide__find_line(const char *text, size_t len, unsigned line,
                            size_t *ret_len);

#endif
