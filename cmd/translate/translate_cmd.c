/* The report of what could not be translated, for programs: a JSON document in
 * a file of its own, since the translation goes to stdout and messages for
 * people to stderr. */
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
