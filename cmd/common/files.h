/* Standard files, and files without a name. */
#ifndef BIDE_CMD_COMMON_FILES_H
#define BIDE_CMD_COMMON_FILES_H

#include <stddef.h>

/* Call it first: no other file may take the place of a standard file that was
 * closed. The placeholder is closed again in programs that are run. */
void hold_standard_files(void);

/* An unnamed file in TMPDIR that disappears with the process; or -1. */
int nameless_file(void);

/* Writes all of it: 0 or errno. */
int write_whole(int fd, const char *data, size_t len);

#endif
