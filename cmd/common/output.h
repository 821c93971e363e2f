/* What reaches the terminal (colours, widths, complaints), and exit codes. */
#ifndef BIDE_CMD_COMMON_OUTPUT_H
#define BIDE_CMD_COMMON_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "bide/backoff.h"

/* Exit codes. `bide run` and `bide fetch` have more of their own (args.h). */
enum {
    EXIT_OK = 0,
    EXIT_FINDINGS = 1, /* the answer is "no": lints found, not retried, ... */
    EXIT_USAGE = 2     /* an error in the arguments or in a policy */
};

/* Whether to use colours on a stream: a terminal, TERM not dumb, NO_COLOR not
 * set. The width of the terminal: COLUMNS, or what the terminal says, or 80; at
 * least 20. And whether text may hold more than ASCII: the locale is UTF-8. */
bool use_colours(FILE *stream);
int terminal_width(FILE *stream);
bool use_utf8(void);

/* The sequences that begin and end a colour; "" where there are none. */
struct paint {
    const char *bold, *dim, *red, *green, *yellow, *plain;
};
struct paint paint_for(FILE *stream);

/* A URL as people may see it: without user, password and query. */
void public_url(char *to, size_t size, const char *url);

/* A jitter before the word "jitter": "full", "no". */
const char *jitter_word(const bide_backoff *backoff);

/* Prints "bide NAME: message" on stderr (NULL: "bide: message"), and returns
 * EXIT_USAGE. */
int complain(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "  did you mean `NAME`?" on stderr, or the alternatives; nothing if
 * there is nothing helpful to say. `known` ends with NULL. */
void suggest(const char *found, const char *const *known);

/* The same, and nothing if no name is near: where there may be any other. */
void suggest_near(const char *found, const char *const *known);

#endif
