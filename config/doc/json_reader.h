/* What the files that read JSON share: where we are, and one step further. */
#ifndef BIDE_CONFIG_DOC_JSON_READER_H
#define BIDE_CONFIG_DOC_JSON_READER_H

#include "config/doc/build.h"

/* Threads: owned. */
struct bide__json_in {
    struct bide__builder b;
    const char *at, *end;
    unsigned line, column;
};

/* The next byte, or -1 at the end. */
int bide__json_peek_in(const struct bide__json_in *r);

/* Steps over one character; over this one, if it is the next. */
void bide__json_step(struct bide__json_in *r);
bool bide__json_take_in(struct bide__json_in *r, char c);

struct bide__mark bide__json_here(const struct bide__json_in *r);

/* "expected ..., found ..."; ends the reading. Always false. */
bool bide__json_refuse(struct bide__json_in *r, struct bide__mark mark,
                       const char *expected, const char *help);

/* The rest of a string, behind its first quote. No escape makes it longer than
 * it is in the text. */
bool bide__json_chars(struct bide__json_in *r, char **to);

#endif
