/* Suggests a known word for a misspelt one.
 *
 *     static const char *const known[] = { "base", "cap", "jitter", NULL };
 *     struct bide__out out = { 0 };
 *     if (bide__suggest(&out, "capp", known))
 *         fprintf(stderr, "%.*s\n", (int)out.len, out.data);
 *     bide__out_done(&out);           // did you mean `cap`?
 */
#ifndef BIDE_BASE_SUGGEST_H
#define BIDE_BASE_SUGGEST_H

#include "base/out.h"

/* "did you mean `cap`?" for the nearest of `known` (NULL-terminated) if it is
 * near enough (edit distance, transpositions count 1), else "expected one of
 * ..." if they are few. False: neither, and nothing is written. */
bool bide__suggest(struct bide__out *out, const char *found,
                   const char *const *known);

#endif
