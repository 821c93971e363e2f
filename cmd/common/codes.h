/* Exit codes and signals as users write them. */
#ifndef BIDE_CMD_COMMON_CODES_H
#define BIDE_CMD_COMMON_CODES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/codes.h"

/* What timeout(1) and the shell make of an end that is no exit code. */
enum { CODE_TIMED_OUT = 124, CODE_SIGNAL = 128 /* and its number */ };

/* Reads "1,75,100-110,TERM,timeout"; codes below `least` are refused. False: that
 * is not what it is. */
bool codes_read(struct bide__codes *codes, const char *text, int least);

/* The number of a signal, by "TERM", "SIGTERM" or "15"; 0 if there is none. And back:
 * "TERM", or a number. */
int signal_number(const char *name);
const char *signal_name(int number, char *buffer, size_t size);

#endif
