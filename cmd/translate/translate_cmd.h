/* What `bide export` and `bide import` share. */
#ifndef BIDE_CMD_TRANSLATE_TRANSLATE_CMD_H
#define BIDE_CMD_TRANSLATE_TRANSLATE_CMD_H

#include <stdio.h>

/* Opens the file of --losses; "-" is stderr. NULL after an error message. */
FILE *losses_open(const char *command, const char *path);

/* Closes it; an exit code if writing failed, else -1. */
int losses_close(const char *command, const char *path, FILE *file);

#endif
