/* base/codes.h: exit codes and signals as users write them.
 *
 *     struct bide__codes codes = { 0 };
 *     if (!bide__codes_read(&codes, "1,75,100-110,TERM,timeout", 1))
 *         ...                                  // expected exit codes
 *     if (codes.has[status])
 *         ...
 */
#ifndef BIDE_BASE_CODES_H
#define BIDE_BASE_CODES_H

#include <stdbool.h>
#include <stddef.h>

/* A set of exit codes of commands. Threads: owned. */
struct bide__codes {
    bool given;
    bool has[256];
};

/* What timeout(1) and the shell make of an end that is no exit code. */
enum {
    BIDE__CODE_TIMED_OUT = 124,
    BIDE__CODE_SIGNAL = 128 /* and its number */
};

/* Adds what a text says; codes below `least` are refused. False: that is not what
 * it is. */
bool bide__codes_read(struct bide__codes *codes, const char *text, int least);

/* The number of a signal, by "TERM", "SIGTERM" or "15"; 0 if there is none. And
 * back: "TERM", or a number. */
int bide__signal_number(const char *name);
const char *bide__signal_name(int number, char *buffer, size_t size);

#endif
