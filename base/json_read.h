/* Reading JSON (RFC 8259) token by token, with positions.
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
 * The reader is strict where libyaml is lenient, and accepts what YAML refuses:
 * pairs of surrogates, tabs, keys of any length. The first error ends the
 * reading, since nothing after it could be trusted. The caller decides what a
 * document must contain; config/doc/json_read.c builds a tree from it. */
#ifndef BIDE_BASE_JSON_READ_H
#define BIDE_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mark.h"

/* Threads: owned. */
struct bide__json_in {
    const char *at, *end;
    unsigned line, column;
    const char *expected;   /* NULL; after an error, what was missing, and */
    const char *help;       /* what to do about it, or NULL */
    struct bide__mark mark; /* of what was found instead, possibly the end */
};

struct bide__json_in bide__json_read(const char *text, size_t len);

struct bide__mark bide__json_in_here(const struct bide__json_in *in);

/* Skips white space and returns the next byte, without taking it; -1 at the
 * end. */
int bide__json_in_peek(struct bide__json_in *in);

/* Skips white space, and then this byte if it is next. */
bool bide__json_in_take(struct bide__json_in *in, char c);

/* Ends the reading, since something else was expected here. Always false. */
bool bide__json_in_refuse(struct bide__json_in *in, const char *expected,
                          const char *help);

/* The first returns an upper bound for the bytes of the string at the front;
 * the second reads it. *ret_len is its length; no NUL is added. */
size_t bide__json_in_longest(const struct bide__json_in *in);
bool bide__json_in_string(struct bide__json_in *in, char *to, size_t *ret_len);

/* Skips a number, `true`, `false` or `null` and returns its length; 0: there
 * is none, and the reading has ended. */
size_t bide__json_in_word(struct bide__json_in *in);

#endif
