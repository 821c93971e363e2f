/* Reading JSON (RFC 8259) piece by piece, each with the place where it stood.
 *
 *     struct bide__json_in in = bide__json_read("[1, 2]", 6);
 *     double sum = 0;
 *     if (bide__json_in_take(&in, '['))
 *         do {
 *             size_t len = bide__json_in_word(&in);
 *             sum += strtod(in.at - len, NULL);
 *         } while (bide__json_in_take(&in, ','));
 *     if (!bide__json_in_take(&in, ']'))
 *         bide__json_in_refuse(&in, "`,` or `]`", NULL);
 *     if (in.expected)
 *         printf("%u: expected %s\n", in.mark.line, in.expected);
 *
 * Strict where libyaml would be generous, and generous where YAML is strict:
 * pairs of surrogates, tabs, keys of any length. The first mistake ends the
 * reading, since what comes behind it cannot be told apart from it. What a
 * document is to be made of is for the caller to say; config/doc/json_read.c
 * makes a tree of it. */
#ifndef BIDE_BASE_JSON_READ_H
#define BIDE_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mark.h"

/* Threads: owned. */
struct bide__json_in {
    const char *at, *end;
    unsigned line, column;
    const char *expected;   /* NULL; else what was not there, and */
    const char *help;       /* what to do about it, or NULL */
    struct bide__mark mark; /* of what was found instead, perhaps the end */
};

struct bide__json_in bide__json_read(const char *text, size_t len);

struct bide__mark bide__json_in_here(const struct bide__json_in *in);

/* The next byte that is no white space, which is stepped over; -1 at the end.
 */
int bide__json_in_peek(struct bide__json_in *in);

/* Steps over this byte, if it is the next behind white space. */
bool bide__json_in_take(struct bide__json_in *in, char c);

/* Ends the reading: what should stand here does not. Always false. */
bool bide__json_in_refuse(struct bide__json_in *in, const char *expected,
                          const char *help);

/* At least as many bytes as the string at the front needs when it is read; and
 * reads it there. *ret_len counts them; no NUL is added. */
size_t bide__json_in_longest(const struct bide__json_in *in);
bool bide__json_in_string(struct bide__json_in *in, char *to, size_t *ret_len);

/* Steps over a number, `true`, `false` or `null`: how long it is; 0: there is
 * none, and the reading has ended. */
size_t bide__json_in_word(struct bide__json_in *in);

#endif
