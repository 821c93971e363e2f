/* What `bide export` and `bide import` share. */
#ifndef BIDE_CMD_TRANSLATE_TRANSLATE_CMD_H
#define BIDE_CMD_TRANSLATE_TRANSLATE_CMD_H

#include <stdio.h>

/* Opens what --losses names, "-" being stderr; NULL after a complaint. */
FILE *losses_open(const char *command, const char *path);

/* Closes it; an exit code if it could not be written, else -1. */
int losses_close(const char *command, const char *path, FILE *file);

#endif
