/* The report of what did not translate, for programs: one JSON document in a
 * file of its own, since stdout has the translation and stderr the words for
 * people. */
#include "cmd/translate/translate_cmd.h"

#include <errno.h>
#include <string.h>

#include "cmd/common/output.h"

FILE *losses_open(const char *command, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stderr : fopen(path, "w");

    if (!file)
        complain(command, "--losses: cannot write %s: %s", path,
                 strerror(errno));
    return file;
}

int losses_close(const char *command, const char *path, FILE *file)
{
    bool failed = ferror(file) != 0;

    if (file != stderr)
        failed = fclose(file) != 0 || failed;
    return failed ? complain(command, "--losses: cannot write %s: %s", path,
                             strerror(errno))
                  : -1;
}
