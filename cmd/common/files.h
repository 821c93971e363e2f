/* Standard files, and files without a name. */
#ifndef BIDE_CMD_COMMON_FILES_H
#define BIDE_CMD_COMMON_FILES_H

#include <stddef.h>

/* To be called first: a standard file that was closed is not to be taken by
 * another. What holds its place is closed again for programs that are run. */
void hold_standard_files(void);

/* A file in TMPDIR that is gone with the process, however that ends; or -1. */
int nameless_file(void);

/* Writes all of it: 0 or errno. */
int write_whole(int fd, const char *data, size_t len);

#endif
