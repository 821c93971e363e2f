/* A whole file as text. */
#ifndef BIDE_CONFIG_DOC_READ_FILE_H
#define BIDE_CONFIG_DOC_READ_FILE_H

#include <stddef.h>

#include "bide/config.h"

/* Reads a whole file, "-" for standard input, at most 64 MiB. A failure (no
 * such file, a directory, too large) is a finding. The caller must free()
 * *ret_text, which ends in a NUL that *ret_len does not count. */
int bide__read_file(const char *path, char **ret_text, size_t *ret_len,
                    bide_diagnostics *notes);

#endif
