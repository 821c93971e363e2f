/* store/sqlite/file.h: where a database may be: on a file system of this machine,
 * in a file that nobody else can read. */
#ifndef BIDE_STORE_SQLITE_FILE_H
#define BIDE_STORE_SQLITE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the file that `path` names and creates it, mode 0600, unless `existing`
 * says that it must be there. *ret is its absolute path, without symbolic links
 * (malloc). BIDE_EINVAL, BIDE_ESTATE with a sentence, BIDE_ENOMEM. */
int bide__sqlite_file(char **ret, const char *path, bool existing, char *why,
                      size_t why_size);

/* The name of a network file system by the type that statfs(2) gives; NULL: it
 * is none that is known. */
const char *bide__network_fs(unsigned long type);

#endif
